"""The files of a profile in a dump: `profile.json` for programs, `profile_trace.json` for Perfetto."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median, stdev
from typing import Any

from depyf.links.origins import Origin
from depyf.links.profile.advice import Priced, priced_findings
from depyf.links.profile.against_eager import Group, groups
from depyf.links.profile.model import Piece, Profile
from depyf.links.profile.tables import Kernel, Overhead, Row, breaks, function_rows, kernel_rows, kinds, line_rows
from depyf.links.profile.units import Sources
from depyf.links.profile.unmeasured import why_unmeasured
from depyf.model.index_reader import Run
from depyf.model.writer import write_whole

PROFILE = "profile.json"
TRACE = "profile_trace.json"
SCHEMA = 1


def write_profile(directory: Path, profile: Profile, run: Run) -> dict[str, Any]:
    """Write the files of a profile into its dump; return the content of `profile.json`.

    Args:
        directory: the dump.
        profile: where the time of a step went.
        run: the dump's run, which has the user's sources.

    Raises:
        OSError: a file cannot be written.
    """
    content = profile_json(profile, run)
    write_whole(directory / PROFILE, json.dumps(content, indent=1) + "\n")
    write_whole(directory / TRACE, json.dumps(chrome_trace(profile)) + "\n")
    return content


def read_profile(directory: Path) -> dict[str, Any] | None:
    """Return the content of the `profile.json` of a dump, or None."""
    path = directory / PROFILE
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def profile_json(profile: Profile, run: Run) -> dict[str, Any]:
    """Return the content of `profile.json`; all times are seconds of one step."""
    sources = Sources(run)
    rows = line_rows(profile)
    return {
        "schema": SCHEMA,
        "torch": run.session.torch_version,
        "python": run.session.python_version,
        "step": _step(profile),
        "kinds": kinds(profile),
        "lines": [_line(profile, row, sources) for row in rows],
        "against_eager": [_group(group, sources) for group in groups(rows, profile.eager)],
        "kernels": [_kernel(profile, kernel_row) for kernel_row in kernel_rows(profile)],
        "functions": [_function(profile, function_row) for function_row in function_rows(profile)],
        "modules": [
            {"name": name, "seconds": seconds, "share": profile.share(seconds)}
            for name, seconds in sources.modules(rows).items()
        ],
        "breaks": [_place(line) | {"seconds": seconds} for line, seconds in breaks(profile).items()],
        "findings": [_finding(profile, priced_finding) for priced_finding in priced_findings(run.session, profile)],
        "timeline": [_piece(piece) for piece in profile.timeline],
        "notes": profile.notes if profile.each_step or profile.notes else [why_unmeasured(run.session)],
    }


def _step(profile: Profile) -> dict[str, Any]:
    return {
        "seconds": profile.seconds,
        "steps": len(profile.each_step),
        "each_step": list(profile.each_step),
        "profiler": profile.profiler,
        "without_profiler": profile.bare_seconds,
        "each_without_profiler": list(profile.bare),
        "eager": profile.eager_step,
        "on_device": profile.on_device,
        "left_out": profile.left_out,
        "named": profile.named,
        "begins_at": dict(zip(("function", "file", "line"), profile.begins_at)) if profile.begins_at else None,
    }


def _kernel(profile: Profile, kernel: Kernel) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "kind": kernel.kind,
        "seconds": kernel.seconds,
        "share": profile.share(kernel.seconds),
        "times": kernel.times,
        "compiles": sorted(kernel.compiles),
        "calls": [{"dump": file, "line": row} for file, row in sorted(set(kernel.calls))],
        "lines": [_place(line) for line in sorted(kernel.lines)],
    }


def _function(profile: Profile, function: Overhead) -> dict[str, Any]:
    return {
        "name": function.name,
        "compiles": sorted(function.compiles),
        "seconds": function.seconds,
        "share": profile.share(function.seconds),
        "kinds": function.kinds,
    }


def _finding(profile: Profile, priced: Priced) -> dict[str, Any]:
    finding = priced.finding
    where = {"file": finding.where.file, "line": finding.where.line} if finding.where is not None else None
    entry = {"kind": finding.kind, "cause": finding.cause, "fix": finding.fix, "where": where}
    return entry | {"seconds": priced.seconds, "share": profile.share(priced.seconds)}


def _piece(piece: Piece) -> dict[str, Any]:
    return {
        "start": piece.start,
        "end": piece.end,
        "kind": piece.charge.kind,
        "name": piece.charge.name or piece.charge.kind,
        "function": piece.charge.function,
        "lines": [_place(line) for line in sorted(piece.charge.lines)],
    }


def _line(profile: Profile, row: Row, sources: Sources) -> dict[str, Any]:
    return {
        **_place(row.lines[0]),
        "function": sources.function_at(row.lines[0]),
        "text": sources.text_at(row.lines[0]),
        "seconds": row.seconds,
        "share": profile.share(row.seconds),
        "kind": row.kind,
        "kinds": row.kinds,
        "set": _places(row.lines, sources) if len(row.lines) > 1 else [],
        "shared": row.shared,
        "spread": stdev(row.each_step) if len(row.each_step) > 1 else None,
        "eager": median(profile.eager[row.lines[0]]) if len(row.lines) == 1 and row.lines[0] in profile.eager else None,
        "kernels": row.kernels,
    }


def _group(group: Group, sources: Sources) -> dict[str, Any]:
    times = {"compiled": group.compiled, "eager": group.eager, "noise": group.noise}
    return {"lines": _places(group.lines, sources), **times}


def _places(lines: Sequence[Origin], sources: Sources) -> list[dict[str, Any]]:
    return [_place(line) | {"text": sources.text_at(line)} for line in lines]


def _place(line: Origin) -> dict[str, Any]:
    return {"file": line[0], "line": line[1]}


def chrome_trace(profile: Profile) -> dict[str, Any]:
    """Return one step for Perfetto or chrome://tracing: the charge of each moment."""
    events = [
        {
            "name": piece.charge.name or piece.charge.kind,
            "cat": piece.charge.kind,
            "ph": "X",
            "pid": 0,
            "tid": 0,
            "ts": 1e6 * piece.start,
            "dur": 1e6 * (piece.end - piece.start),
            "args": {
                "lines": [f"{file}:{line}" for file, line in sorted(piece.charge.lines)],
                "function": piece.charge.function,
                "compile": piece.charge.compile,
            },
        }
        for piece in profile.timeline
    ]
    return {"traceEvents": events, "displayTimeUnit": "ms"}
