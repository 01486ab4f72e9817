"""A class whose instances keep every code that torch compiled from their `forward`, and run any of them on request."""

from __future__ import annotations

import contextlib
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch

from depyf.model.run import Unavailable
from depyf.torch.adapters import seams
from depyf.torch.adapters.caller import locals_in_progress

_ONE_AT_A_TIME = threading.RLock()
"""Locked while the code of a class's `forward` is replaced: the instances of a class share it."""


class TorchCompileWrapperWithCustomDispatcher:
    """Collects the compiled codes of this instance's `forward`; `dispatch_to_code` runs one of them directly.

    No guards are checked then: the caller must know that the code fits.

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
        compiled_callable: the callable that a call of the instance runs, by default `torch.compile(self.forward)`.
        original_code_object: the code of `forward` as written.
        compiled_codes: the compiled codes, in the order of their compiles. If an earlier hook returned another code,
            that code counts as the compiled one.
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
        """Call the compiled function. A subclass that dispatches on its own overrides this."""
        return self.compiled_callable(*args, **kwargs)

    def bytecode_hook(self, old_code: types.CodeType, new_code: types.CodeType) -> None:
        """Keep `new_code` if it was compiled from this instance's `forward`."""
        if old_code is not self.original_code_object:
            return
        values = locals_in_progress()
        if not isinstance(values, Unavailable) and values.get("self") is not self:
            return
        self.compiled_codes.append(new_code)

    @contextlib.contextmanager
    def dispatch_to_code(self, index: int) -> Iterator[None]:
        """Replace the code of `forward` by the compiled code number `index` inside the context.

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
