"""Triton's cache of compiled kernels, watched through Triton's compilation listener in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from depyf.model.run import Unavailable
from depyf.torch.adapters.kernel_caches.look import TRITON, KernelLook, Listener, seconds_between
from depyf.torch.adapters.unseen import left_alone


def watch_binaries(triton: Any, listener: Listener) -> Callable[[], None] | Unavailable:  # noqa: ANN401 - a module
    """Report each kernel that Triton looks up to `listener`; return a function that ends this."""
    compilation: Any = getattr(getattr(triton, "knobs", None), "compilation", None)
    if not hasattr(compilation, "listener"):
        return Unavailable("this Triton does not report its compiles")
    before = compilation.listener

    @left_alone
    def told(**about: Any) -> None:  # noqa: ANN401 - as Triton's own
        if before is not None:
            before(**about)
        listener(lambda: _look(triton, about))

    compilation.listener = told

    def end() -> None:
        if compilation.listener is told:
            compilation.listener = before

    return end


def _look(triton: Any, about: Mapping[str, Any]) -> KernelLook:  # noqa: ANN401 - a module
    metadata, is_hit = about["metadata"], bool(about["cache_hit"])
    if is_hit:
        seconds = seconds_between(Path(path) for path in about["metadata_group"].values())
    else:
        seconds = about["times"].total / 1e6
    parts = dict(_parts(triton, about["src"], metadata))
    return KernelLook(TRITON, is_hit, str(metadata.get("hash") or ""), parts, seconds)


def _parts(triton: Any, source: Any, metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    function = getattr(source, "fn", None)
    yield "Triton source", str(getattr(function, "src", None) or getattr(source, "src", ""))
    for (name, _), (value, _) in getattr(function, "used_global_vals", {}).items():
        yield f"Triton global[{name}]", repr(value)
    names = list(getattr(function, "arg_names", ()))
    for name, kind in getattr(source, "signature", {}).items():
        yield f"Triton argument[{name}]", str(kind)
    for place, value in getattr(source, "constants", {}).items():
        yield f"Triton constant[{_named(names, place)}]", str(getattr(value, "cache_key", value))
    for place, value in getattr(source, "attrs", {}).items():
        yield f"Triton property[{_named(names, place)}]", str(value)
    target = metadata.get("target")
    yield "Triton target", str(target)
    for name in _options(triton, target):
        if name in metadata:
            # A hit reads its options from JSON, in which a tuple has become a list.
            yield f"Triton option[{name}]", json.dumps(metadata[name], default=str)
    yield from ((f"Triton variable[{name}]", str(value)) for name, value in metadata.items() if name.isupper())
    yield "Triton version", str(metadata.get("triton_version", getattr(triton, "__version__", "")))
    yield "Triton dependencies", str(getattr(function, "cache_key", ""))


def _named(names: list[str], place: object) -> str:
    """Return the name of an argument or of a place in one, or the place if there is no name."""
    match place:
        case (int(number), *rest) if number < len(names):
            return names[number] + "".join(f"[{index}]" for index in rest)
        case int(number) if number < len(names):
            return names[number]
    return str(place)


def _options(triton: Any, target: object) -> list[str]:  # noqa: ANN401 - a module
    """Return the names of the options of a target's compiler. Triton's metadata contains more than the options."""
    options = triton.compiler.make_backend(target).parse_options({})
    return sorted(vars(options))
