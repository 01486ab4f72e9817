"""Share the decompilation and proof of codes that differ only in names that Dynamo numbers, within a context.

before: `return __compiled_fn_7_<uuid>(x)[0]`, and for the next recompile `return __compiled_fn_8_<uuid>(x)[0]`
after: the second text is the first with the other name, and so is its proof, which does not depend on names of globals
"""

from __future__ import annotations

import marshal
import re
import types
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from depyf.model.artifacts.transformed_source import renamed
from depyf.model.names import is_installed
from depyf.torch.capture.kept_proofs import KeptProofs
from depyf.torch.capture.listing import names_in_dump
from depyf.torch.capture.proven import Proven, Shown, shown_of
from depyf.verify.assumptions import Assumptions
from depyf.verify.level import Level

MOST = 256
"""The number of codes that are kept. The recompiles of a function follow each other."""

_FIRST_DIGIT = re.compile(r"\d")


class EqualCodes:
    """The decompilations of a context. May be used from any thread.

    kept: the proven decompilations of earlier processes.
    """

    def __init__(self, kept: KeptProofs | None = None) -> None:
        self._known: dict[Hashable, Shown] = {}
        self._kept = kept if kept is not None else KeptProofs(None)

    def shown(self, code: types.CodeType, known: Assumptions, results: Mapping[str, Sequence[str]]) -> Shown:
        """Return the decompilation of Dynamo's code. For an equal code, reuse the earlier one with the new names.

        Args:
            code: Dynamo's code.
            known: what is known about the globals that it loads.
            results: the names of each graph's results, by the graph's global name.
        """
        counted = tuple(name for name in code.co_names if _is_counted(name))
        key = _key(code, {name: f"{_kind(name)} {number}" for number, name in enumerate(counted)}, known, results)
        earlier = self._earlier(key, len(counted)) if key is not None else None
        if earlier is not None:
            return _under_other_names(earlier, code, counted)
        shown = shown_of(code, known, results, counted)
        # A placeholder would keep the program's objects alive, and an unproven result has a name in its reason.
        if key is not None and not shown.decompiled.placeholders and shown.decompiled.level is not Level.UNPROVEN:
            self._keep(key, shown)
            self._kept.put(key, shown)
        return shown

    def _earlier(self, key: Hashable, counted: int) -> Shown | None:
        earlier = self._known.get(key)
        if earlier is None:
            earlier = self._kept.get(key, counted)
            if earlier is not None:
                self._keep(key, earlier)
        return earlier

    def _keep(self, key: Hashable, shown: Shown) -> None:
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[key] = shown


def _is_counted(name: str) -> bool:
    return is_installed(name) and not name.startswith("__import_")


def _kind(name: str) -> str:
    return _FIRST_DIGIT.split(name, maxsplit=1)[0]


def _key(
    code: types.CodeType, counted: Mapping[str, str], known: Assumptions, results: Mapping[str, Sequence[str]]
) -> Hashable:
    """Return what text and proof depend on, with numbered names replaced; None if that is not plain data."""
    variables = (code.co_varnames, code.co_cellvars, code.co_freevars)
    if any(name in counted for names in variables for name in names):
        return None
    slices = tuple(position for position, constant in enumerate(code.co_consts) if type(constant) is slice)
    try:
        constants = marshal.dumps([_without_slice(constant) for constant in code.co_consts], 2)
    except ValueError:
        return None
    return (
        *(code.co_code, constants, slices, variables, code.co_name, code.co_filename, code.co_firstlineno),
        *(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_linetable, code.co_stacksize),
        code.co_flags,
        *(getattr(code, name, None) for name in ("co_qualname", "co_exceptiontable")),
        tuple(counted.get(name, name) for name in code.co_names),
        frozenset((counted.get(name, name), length) for name, length in known.sequence_lengths.items()),
        frozenset(counted.get(name, name) for name in known.unchanging),
        known.in_place,
        frozenset((counted.get(name, name), tuple(names)) for name, names in results.items()),
    )


def _without_slice(constant: object) -> object:
    """Return a slice, a constant since 3.14, as a tuple: the version of marshal that writes no references has none."""
    return (constant.start, constant.stop, constant.step) if type(constant) is slice else constant


def _under_other_names(earlier: Shown, code: types.CodeType, counted: tuple[str, ...]) -> Shown:
    to_dump = names_in_dump(code)
    dump_names = (to_dump.get(name, name) for name in counted)
    names = {earlier.to_dump.get(old, old): new for old, new in zip(earlier.counted, dump_names, strict=True)}
    source = renamed(earlier.source, names)
    module = source if earlier.module == earlier.source else renamed(earlier.module, names)
    real = dict(zip(earlier.counted, counted, strict=True))
    return Shown(_renamed(earlier.decompiled, real), source, module, to_dump, earlier.instructions, counted)


def _renamed(proven: Proven, real: Mapping[str, str]) -> Proven:
    """Return a result for code in which numbered names are others."""
    if all(old == new for old, new in real.items()):
        return proven
    names, functions = (
        {name: real.get(value, value) for name, value in mapping.items()}
        for mapping in (proven.names, proven.functions)
    )
    compiled = proven.compiled
    if compiled is not None:
        compiled = compiled.replace(co_names=tuple(real.get(name, name) for name in compiled.co_names))
    return replace(proven, names=names, functions=functions, compiled=compiled)
