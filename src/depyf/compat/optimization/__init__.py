"""Call compiled code without checking its guards, for programs that know which version to use."""

from __future__ import annotations

from depyf.torch.replica.dispatcher import TorchCompileWrapperWithCustomDispatcher

__all__ = ["TorchCompileWrapperWithCustomDispatcher"]
