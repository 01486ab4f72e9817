"""The guards of each entry and the resume functions that its code calls, read during or right after the compile.

They are read when torch writes its record of the guards, with the values of the call. If that is not possible, they are
read from torch's cache, at the start of the next compile or at the end of the context. An entry is cached only after
the last record of its compile.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from depyf.bytecode.records import dataclass
from depyf.model.guard_failure import GuardFailure, is_of_call
from depyf.model.lines_read import LinesRead
from depyf.model.names import resume_offset
from depyf.model.reading_lines import followed
from depyf.model.run import (
    MOST_ENTRIES,
    CompileId,
    EntryContrast,
    FailedEntry,
    Function,
    GuardSet,
    Recompile,
    Resume,
    Unavailable,
)
from depyf.model.user_source import line_at
from depyf.torch.adapters import seams
from depyf.torch.capture.listing import line_of_offset
from depyf.torch.capture.live import compile_id, earlier_entries, resume_code
from depyf.torch.capture.recorder import CallSite, Recorder, Running
from depyf.torch.capture.weak_codes import WeakCodes
from depyf.torch.dump.told import LiveCompile
from depyf.torch.guards.record import guard_set
from depyf.torch.guards.tree import Tree
from depyf.torch.guards.verdicts import agreement
from depyf.torch.guards.verdicts.between import contrasts
from depyf.torch.guards.verdicts.explain import explain_each

DROPPED = "something that its guards need is gone (a module that died), or Dynamo was reset"
RESET = "Dynamo was reset"
"""Why an entry no longer exists although its function does."""


def read_guards_in_progress(recorder: Recorder, running: Running) -> None:
    """Read the guards of which torch is writing a record."""
    in_progress = seams.guards_in_progress()
    if isinstance(in_progress, seams.GuardsInProgress):
        _read_guards(recorder, running, in_progress.manager, in_progress.local_values)
        _explain_failures(recorder, running, in_progress)
        _note_call_sites(recorder, running, in_progress.global_values)


def read_new_entries(recorder: Recorder) -> None:
    """Read the entries of all compiles that have ended since the last time and whose guards are not known yet."""
    for running in recorder.running():
        if running.finished and not running.entry_is_read:
            running.entry_is_read = True
            if running.guards is None:
                _read_from_cache(recorder, running)


def live_compiles(recorder: Recorder) -> list[tuple[Function, LiveCompile]]:
    """Return each compile that had code, with its function. Record which entries no longer exist, and why."""
    live = []
    entries: WeakCodes[dict[CompileId, seams.CacheEntry]] = WeakCodes()
    for running in recorder.running():
        if running.live_code is None or running.is_ahead:
            continue
        code = running.live_code()
        if code is not None and entries.get(code) is None:
            entries[code] = {
                seams.entry_compile_id(cache_entry): cache_entry for cache_entry in seams.cache_entries(code)
            }
        of_code = entries.get(code) if code is not None else None
        entry = of_code.get(running.compile.id.of_torch) if of_code is not None and not running.is_reset else None
        if running.finished and code is None:
            running.compile.gone = "the function is gone, and its entries with it"
        elif running.finished and entry is None:
            running.compile.gone = RESET if running.is_reset else DROPPED
        transformed = weakref.ref(entry.code) if entry is not None else None
        live.append((running.function, LiveCompile(running.compile, running.live_code, transformed)))
    return live


def _explain_failures(recorder: Recorder, running: Running, in_progress: seams.GuardsInProgress) -> None:
    """Compare the call that is being recompiled with the guards of the function's other entries."""
    trigger = running.compile.trigger
    if not isinstance(trigger, Recompile):
        return
    others = _guards_of_others(recorder, running, [failed.entry for failed in trigger.entries])
    named = trigger.entries or tuple(FailedEntry(entry) for entry in others)
    of_entries = explain_each(
        (other.tree for other in others.values()), in_progress.local_values, in_progress.global_values
    )
    failing = {
        entry: tuple(_with_line(failure, running, other.read) for failure in failures)
        for (entry, other), failures in zip(others.items(), of_entries, strict=True)
    }
    entries = tuple(
        replace(failed, failures=failing[failed.entry], is_complete=True) if failing.get(failed.entry) else failed
        for failed in named
    )
    running.compile.trigger = replace(
        trigger, entries=tuple(failed for failed in entries if failed.clauses or failed.failures)
    )
    guards = running.compile.guards
    if others and isinstance(guards, GuardSet):
        earlier, other = list(others.items())[-1]
        respects = tuple(
            contrast.words(earlier, str(running.compile.id)) for contrast in contrasts(other.guards, guards)
        )
        running.compile.contrast = EntryContrast(earlier, respects)


@dataclass(frozen=True, slots=True)
class _Other:
    """Another entry of a function: its guards, and the lines that Dynamo read in its compile, if known."""

    tree: Tree
    guards: GuardSet
    read: tuple[LinesRead, ...] = ()


def _guards_of_others(recorder: Recorder, running: Running, wanted: list[str]) -> dict[str, _Other]:
    """Return the guards of the function's newest other entries, oldest first, including those from before the context.

    wanted: the entries that torch names; empty if it names none.
    """
    compiles = [other for other in recorder.compiles_of(running.function) if other is not running]
    others: dict[str, _Other] = {}
    candidates = ((other, other.guards, other.compile.guards) for other in reversed(compiles))
    known = (
        (other, tree, other_guards)
        for other, tree, other_guards in candidates
        if tree is not None and isinstance(other_guards, GuardSet)
    )
    for other, tree, other_guards in reversed(list(islice(known, MOST_ENTRIES))):
        others[str(other.compile.id)] = _Other(tree, other_guards, other.compile.lines)
    if wanted and others.keys() >= set(wanted):
        return others
    return {**_guards_from_before(running, compiles, MOST_ENTRIES - len(others)), **others}


def _guards_from_before(running: Running, compiles: list[Running], most: int) -> dict[str, _Other]:
    """Return the guards of the newest entries from before the context, oldest first."""
    code = running.live_code() if running.live_code is not None else None
    if code is None or most <= 0:
        return {}
    others = {}
    for entry in earlier_entries(code, {running_compile.compile.id.of_torch for running_compile in compiles})[-most:]:
        tree, differs = agreement.read(seams.entry_guard_manager(entry), None, running.function.filename)
        others[compile_id(entry)] = _Other(tree, guard_set(tree, differs))
    return others


def _with_line(failure: GuardFailure, running: Running, read: tuple[LinesRead, ...]) -> GuardFailure:
    """Return a guard failure with the line that reads the value, if torch's guard names none.

    read: the lines that Dynamo read in the compile of the entry.
    """
    function = running.function
    if failure.line is not None and failure.line.text:
        return failure
    place = None
    if not is_of_call(failure) and not function.is_resume:
        place = followed(
            failure.subject, LinesRead(function.name, function.filename, function.first_line, (), (), ()), read
        )
    return replace(failure, line=line_at(*place) if place is not None else None)


def relate(recorder: Recorder, running: Running, code: types.CodeType) -> None:
    """Record which function `code` is a resume function of, if it is one.

    Args:
        recorder: knows the resume functions that compiled code calls.
        running: the compile of the code.
        code: the code of the function.
    """
    function = running.function
    function.parameters = _own_parameters(code)
    if not code.co_name.startswith(seams.RESUME_PREFIX):
        return
    site = recorder.call_sites.get(code)
    if site is None:
        return
    offset = resume_offset(site.name)
    caller_code = site.caller.code
    function.root = site.caller.function.root
    if function.resume_name not in ("", site.name):
        # The code of a compile from an earlier context uses another name for it.
        before = [
            earlier_name
            for earlier_name in (function.resume_name, *function.other_resume_names)
            if earlier_name != site.name
        ]
        site.other_names[:] = [*before, *(other_name for other_name in site.other_names if other_name not in before)]
    function.resume_name = site.name
    function.other_resume_names = site.other_names
    function.break_line = code.co_firstlineno
    function.resumes_at = code.co_firstlineno
    if caller_code is not None and offset is not None:
        function.resumes_at = line_of_offset(caller_code, offset) or code.co_firstlineno
    if len(function.compiles) == 1:
        running.compile.trigger = Resume(site.caller.compile.id, offset)


def _read_guards(
    recorder: Recorder, running: Running, manager: seams.GuardManager, values: Mapping[str, object] | None
) -> None:
    others = (other.guards for other in reversed(recorder.compiles_of(running.function)) if other is not running)
    earlier = next((tree for tree in others if tree is not None), None)
    tree, differs = agreement.read(manager, values, running.compile.filename, earlier)
    running.guards = tree
    running.compile.guards = guard_set(tree, differs)


def _read_from_cache(recorder: Recorder, running: Running) -> None:
    if running.live_code is None:
        return  # The compile failed before it had code.
    code = running.live_code()
    if code is None:
        running.compile.guards = Unavailable("the function was gone before its entry could be read")
        return
    entry = _entry_of(running, code)
    if entry is None:
        running.compile.guards = Unavailable("torch dropped the entry: something that it guards was gone")
        return
    _read_guards(recorder, running, seams.entry_guard_manager(entry), None)
    _note_call_sites(recorder, running, seams.entry_globals(entry))


def _entry_of(running: Running, code: types.CodeType) -> seams.CacheEntry | None:
    """Return the cache entry of a compile, or None."""
    if running.is_reset:
        return None
    entries, torch_id = seams.cache_entries(code), running.compile.id.of_torch
    return next((entry for entry in entries if seams.entry_compile_id(entry) == torch_id), None)


def _note_call_sites(recorder: Recorder, running: Running, global_values: Mapping[str, object]) -> None:
    for name in running.compile.resumes:
        code = resume_code(global_values.get(name))
        if code is None:
            continue
        site = recorder.call_sites.get(code)
        if site is None:
            recorder.call_sites[code] = CallSite(running, name)
        elif name not in (site.name, *site.other_names):
            site.other_names.append(name)


def _own_parameters(code: types.CodeType) -> tuple[str, ...]:
    """Return the user's own parameters; Dynamo's begin with two underscores."""
    count = code.co_argcount + code.co_kwonlyargcount
    return tuple(name for name in code.co_varnames[:count] if not name.startswith(("__", ".")))
