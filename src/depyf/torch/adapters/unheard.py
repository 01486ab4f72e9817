"""Records of torch's structured trace that nobody wants are not made, while depyf alone listens to it.

Torch makes three records for each parameter of a model, and a text of all its guards, which depyf reads as objects. For
a transformer of twelve layers that is a third of what a listener costs: 435 records, and a text of 665 kB.

Why n entries refused a call is a list of n texts, all but one of which stood in the record before: nobody joins them.
"""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable
from contextlib import ExitStack
from types import ModuleType
from typing import Any

from depyf.torch.adapters.unseen import left_alone
from depyf.trace import stages
from depyf.trace.refusals import Listed

_FUNCTION = "trace_structured"
_MODULES = ("torch._logging", "torch._subclasses.meta_utils", "torch.fx.experimental.symbolic_shapes")
"""Where those who write such records find the function: two of them have a name of their own for it."""


def pass_over_unheard(log: logging.Logger, own: logging.Handler) -> Callable[[], None]:
    """Have torch make no records that depyf passes over, while `own` is the only handler that hears of them.

    The function returned ends that. Where somebody else listens already, nothing is replaced: records tell from which
    file they come. A torch whose function is found elsewhere makes all records.
    """
    undo = ExitStack()
    if any(_listens(handler) for handler in log.handlers if handler is not own):
        return undo.close
    for name in _MODULES:
        module = sys.modules.get(name)
        original = getattr(module, _FUNCTION, None)
        if module is not None and callable(original):
            undo.callback(_replace(module, original, left_alone(lambda: log.handlers == [own])))
    return undo.close


def _listens(handler: logging.Handler) -> bool:
    """Return whether a handler wants records: torch's own has nowhere to write to, unless `TORCH_TRACE` says where."""
    return getattr(handler, "root_dir", "") is not None


def _replace(module: ModuleType, original: Callable[..., object], is_alone: Callable[[], bool]) -> Callable[[], None]:
    @left_alone
    def trace_structured(name: str, *args: Any, **kwargs: Any) -> object:
        if name in stages.UNINTERESTING and is_alone():
            return None
        if name == stages.GUARD_TREE and "payload_fn" in kwargs and is_alone():
            kwargs["payload_fn"] = _nothing
        elif name == stages.ARTEFACT and {"metadata_fn", "payload_fn"} <= kwargs.keys() and is_alone():
            kwargs = _unjoined(kwargs)
        return original(name, *args, **kwargs)

    def put_back() -> None:
        if getattr(module, _FUNCTION, None) is trace_structured:
            setattr(module, _FUNCTION, original)

    # A backward that is compiled when it is first called is compiled where Dynamo looks at every frame.
    setattr(module, _FUNCTION, functools.update_wrapper(trace_structured, original))
    return put_back


@left_alone
def _nothing() -> None:
    return None


def _unjoined(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return what is given for an artefact: of why entries refused a call, the texts as they are."""
    details, payload_of = kwargs["metadata_fn"](), kwargs["payload_fn"]

    @left_alone
    def known() -> object:
        return details

    @left_alone
    def payload() -> object:
        found = payload_of()
        return Listed(found) if type(found) is list and all(type(each) is str for each in found) else found

    is_of_refusals = isinstance(details, dict) and details.get("name") == stages.RECOMPILE_REASONS
    return kwargs | {"metadata_fn": known} | ({"payload_fn": payload} if is_of_refusals else {})
