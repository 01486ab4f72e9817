"""A class whose instances keep every code that torch compiled of their `forward`, and run the one they are told to."""

from __future__ import annotations

import contextlib
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch

from depyf.report.model import Unavailable
from depyf.torch.adapters import seams
from depyf.torch.adapters.caller import locals_in_progress

_ONE_AT_A_TIME = threading.RLock()
"""Held while the code of a class's `forward` is replaced: instances of one class share it."""


class TorchCompileWrapperWithCustomDispatcher:
    """Collects the compiled codes of `forward` of this instance; `dispatch_to_code` runs one of them directly.

    Guards are not asked then: whoever dispatches has to know that the code fits.

        class Model(TorchCompileWrapperWithCustomDispatcher):
            def __init__(self, inner):
                self.inner = inner
                super().__init__()

            def forward(self, x):
                return self.inner(x)

            def __call__(self, x):
                if not self.compiled_codes:
                    return super().__call__(x)  # compiles
                with self.dispatch_to_code(0):
                    return self.forward(x)

    Attributes:
        compiled_callable: what calling an instance calls, by default `torch.compile(self.forward)`.
        original_code_object: the code of `forward` as it was written.
        compiled_codes: the codes that run in its place, in the order of their compiles. A code that a hook
            before ours gave back counts as the compiled one.
    """

    def __init__(self, compiled_callable: Callable[..., Any] | None = None) -> None:
        self.compiled_callable = compiled_callable if compiled_callable is not None else torch.compile(self.forward)
        self.original_code_object: types.CodeType = type(self).forward.__code__
        self.compiled_codes: list[types.CodeType] = []
        listener = weakref.ref(self)

        def hook(code: types.CodeType, new_code: types.CodeType) -> None:
            instance = listener()
            if instance is not None:
                instance.bytecode_hook(code, new_code)

        weakref.finalize(self, seams.register_bytecode_hook(hook).remove)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result; subclasses define it."""
        raise NotImplementedError(f"{type(self).__qualname__} defines no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call what is compiled; a subclass decides here when it dispatches by itself."""
        return self.compiled_callable(*args, **kwargs)

    def bytecode_hook(self, old_code: types.CodeType, new_code: types.CodeType) -> None:
        """Keep `new_code` if it is of this instance's `forward`."""
        if old_code is not self.original_code_object:
            return
        values = locals_in_progress()
        if not isinstance(values, Unavailable) and values.get("self") is not self:
            return
        self.compiled_codes.append(new_code)

    @contextlib.contextmanager
    def dispatch_to_code(self, index: int) -> Iterator[None]:
        """Let `forward` be the compiled code number `index` inside of the context, also if it ends by an exception.

        Raises:
            IndexError: there is no such code yet.
        """
        if not -len(self.compiled_codes) <= index < len(self.compiled_codes):
            raise IndexError(f"no compiled code {index}: {len(self.compiled_codes)} were compiled so far")
        forward: Any = type(self).forward
        with _ONE_AT_A_TIME:
            before = forward.__code__
            forward.__code__ = self.compiled_codes[index]
            try:
                yield
            finally:
                forward.__code__ = before
