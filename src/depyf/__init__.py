"""depyf opens the black box of `torch.compile`."""

from depyf.api import decompile

__all__ = ["decompile"]
