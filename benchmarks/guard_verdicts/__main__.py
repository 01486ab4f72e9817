"""Print torch's verdicts and ours: `python -m benchmarks.guard_verdicts [--all] [program ...]`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from benchmarks.guard_verdicts.verdicts import NotAsked, Verdict, verdicts
from corpus.guards.programs import PROGRAMS


def main(arguments: list[str]) -> int:
    """Ask about all programs, or those named, and print the pairs that differ, or all."""
    parser = argparse.ArgumentParser(prog="guard_verdicts")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--all", action="store_true", help="print every pair")
    parser.add_argument("--text", action="store_true", help="print the guards")
    options = parser.parse_args(arguments)
    asked: list[Verdict] = []
    kinds: Counter[str] = Counter()
    through: Counter[str] = Counter()
    not_asked: list[str] = []
    for program in PROGRAMS:
        if options.programs and program.name not in options.programs:
            continue
        last = None
        try:
            pairs = list(verdicts(program))
        except NotAsked as reason:
            not_asked.append(str(reason))
            continue
        for guarded, verdict in pairs:
            if guarded is not last:
                last = guarded
                kinds.update(kind for clause in guarded.tree.clauses for kind in clause.kind.split())
                through.update(clause.kind for clause in guarded.tree.clauses if clause.calls_through)
                through.update(f"beyond: {source}" for source in guarded.tree.beyond)
                if options.text:
                    print(guarded.text)
                if guarded.differs:
                    print(f"{program.name} {guarded.entry} DIFFERS: {guarded.differs}")
            asked.append(verdict)
            if options.all or not verdict.agree:
                print(row(verdict))
    agree = sum(verdict.agree for verdict in asked)
    refused = sum(not verdict.torch for verdict in asked)
    print(f"{agree} of {len(asked)} pairs agree; torch accepts {len(asked) - refused} and refuses {refused}")
    print("clauses:", ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    print(
        "torch's own guards called:", ", ".join(f"{kind} {count}" for kind, count in sorted(through.items())) or "none"
    )
    print(f"programs that this torch cannot be asked about: {len(not_asked)}", *not_asked, sep="\n  ")
    return 0 if agree == len(asked) else 1


def row(verdict: Verdict) -> str:
    """Return a line of the table, and the reasons where torch and the guard disagree."""
    said = f"{verdict.torch!s:5} {verdict.ours!s:5} {verdict.ours_without_locals!s:5} {not verdict.failures!s:5}"
    line = f"{'=' if verdict.agree else '!'} {said}  {verdict.program:24} {verdict.entry:5} {verdict.change}"
    reasons = [f"      {failure}" for failure in verdict.failures]
    return "\n".join([line, *reasons])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
