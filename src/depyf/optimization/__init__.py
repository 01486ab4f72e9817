"""Compiled code called without asking its guards, for programs that know by themselves which version fits."""

from __future__ import annotations

from depyf.torch.replica.dispatcher import TorchCompileWrapperWithCustomDispatcher

__all__ = ["TorchCompileWrapperWithCustomDispatcher"]
