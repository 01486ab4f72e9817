"""The cache entries that torch made: read once each, right after the compile, before the user's objects can die.

An entry is put into the cache after the last record of its compile, so it is read at the start of the next compile
or at the end of the context.
"""

from __future__ import annotations

import types

from depyf.report.model import Resume, Unavailable
from depyf.torch.adapters import seams
from depyf.torch.listing import line_of_offset
from depyf.torch.recorder import CallSite, Recorder, Running


def read_new_entries(recorder: Recorder) -> None:
    """Read the entries of all compiles that have ended since the last time."""
    for running in recorder.running():
        if running.finished and not running.entry_is_read:
            running.entry_is_read = True
            _read(recorder, running)


def relate(recorder: Recorder, running: Running, code: types.CodeType) -> None:
    """Note whose resume function `code` is, if it is one."""
    function = running.function
    function.parameters = _own_parameters(code)
    if not code.co_name.startswith(seams.RESUME_PREFIX):
        return
    site = recorder.call_sites.get(code)
    if site is None:
        return
    caller_code = site.caller.code() if site.caller.code is not None else None
    offset = _resume_offset(site.name)
    function.root = site.caller.function.root
    function.resume_name = site.name
    function.break_line = code.co_firstlineno
    function.resumes_at = code.co_firstlineno
    if caller_code is not None and offset is not None:
        function.resumes_at = line_of_offset(caller_code, offset) or code.co_firstlineno
    if len(function.compiles) == 1:
        running.compile.trigger = Resume(site.caller.compile.id, offset)


def _read(recorder: Recorder, running: Running) -> None:
    code = running.code() if running.code is not None else None
    if code is None:
        if running.compile.failure is None and running.code is not None:
            running.compile.guards = Unavailable("the function was gone before its entry could be read")
        return
    entry = _entry_of(running, code)
    if entry is None:
        running.compile.guards = Unavailable("torch dropped the entry: something that it guards was gone")
        return
    _note_call_sites(recorder, running, entry)


def _entry_of(running: Running, code: types.CodeType) -> seams.CacheEntry | None:
    """Return the cache entry that a compile made; by its id, or by its code where entries carry no id."""
    new_code = running.new_code() if running.new_code is not None else None
    for entry in seams.cache_entries(code):
        compile_id = seams.entry_compile_id(entry)
        if compile_id == running.compile.id or (compile_id is None and entry.code is new_code):
            return entry
    return None


def _note_call_sites(recorder: Recorder, running: Running, entry: seams.CacheEntry) -> None:
    for name, resume_code in seams.resume_codes(entry.code, seams.entry_globals(entry)):
        if recorder.call_sites.get(resume_code) is None:
            recorder.call_sites[resume_code] = CallSite(running, name)


def _own_parameters(code: types.CodeType) -> tuple[str, ...]:
    """Return the parameters that the user knows; Dynamo's own begin with two underscores."""
    count = code.co_argcount + code.co_kwonlyargcount
    return tuple(name for name in code.co_varnames[:count] if not name.startswith(("__", ".")))


def _resume_offset(name: str) -> int | None:
    parts = name.removeprefix("__resume_at_").split("_")
    return int(parts[0]) if parts[0].isdigit() else None
