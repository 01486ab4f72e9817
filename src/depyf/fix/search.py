"""Find the edits that help: each alone, then all that run, then without those that the others do not need.

A cause may show its effect only when another one is gone. So an edit without an effect alone is kept for the set, and
dropped only if the set is as good without it. A cause may also show itself only then: torch leaves out a function at
the first break in a loop of it. So the next round looks at a run with all edits so far, also if they have no effect.

A long program is run in full four times: as it is, without any compile, and a pair at the end, as it is and with the
kept edits. The other runs end after the calls that are compared, if the program as it is compiles nothing after them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

import depyf.fix.edits  # noqa: F401 - registers the edits
from depyf.findings import Finding
from depyf.fix.counts import BETTER, EQUAL, SLOWER, TRADE, WORSE, compare_counts, is_better, takes_longer
from depyf.fix.edit import PROPOSERS, Edit, RefusedError, subject_of
from depyf.fix.trees import first_line_of_function, parsed
from depyf.fix.tries import Outcome, Sameness, Tries, sameness, step_ratio
from depyf.fix.unchanged import changed_elsewhere, line_before, line_replaced
from depyf.model.index_reader import Run
from depyf.model.user_source import is_foreign

HELPS, NO_EFFECT, DIFFERS, REFUSED, NOT_NEEDED = "helps", "no effect alone", "differs", "refused", "not needed"
OFFERED, TRADES, HARMS = "offered", "trade", "worse"
USABLE = (HELPS, NO_EFFECT, NOT_NEEDED, TRADES)
STATES = {BETTER: HELPS, EQUAL: NO_EFFECT, TRADE: TRADES, WORSE: HARMS}
"""The state of an edit with equal results, by what it does to the numbers of the run alone."""
MOST_ROUNDS = 5


@dataclass(frozen=True)
class Tried:
    """An edit with what became of it. `outcome` is the run with it alone, None if it was refused or not run."""

    edit: Edit
    state: str
    words: str
    outcome: Outcome | None = None
    same: Sameness | None = None
    is_kept: bool = False
    finding: tuple[str, str] = ("", "")
    """The finding that it was proposed for, by kind and place; the finding that it is for may be the cause of that."""
    removed: frozenset[tuple[str, str]] = frozenset()
    """The findings that it removes alone, by kind and place in the user's text."""


@dataclass
class Result:
    """All that was tried. `patched` is the run with all kept edits, `texts` their files."""

    plain: Outcome
    eager: Outcome
    tried: list[Tried] = field(default_factory=list)
    patched: Outcome | None = None
    same: Sameness | None = None
    texts: dict[str, str] = field(default_factory=dict)
    ended: str = ""
    ratio: float | None = None
    """How many times faster a call is with the kept edits, in a pair of runs; None if it was not measured."""
    runs: int = 0

    @property
    def kept(self) -> list[Tried]:
        """Return the kept edits."""
        return [tried for tried in self.tried if tried.is_kept]


class OutOfBudgetError(Exception):
    """No more run is allowed."""


class Search:
    """A search over the edits of a program.

    only: if not empty, the kind of finding or the place that is looked at.
    tell: receives a line about each run.
    """

    def __init__(self, tries: Tries, most: int, seconds: float, only: str, tell: Callable[[str], None]) -> None:
        self._tries = tries
        self._most, self._seconds, self._only = most, seconds, only
        self._tell = tell
        self._known: dict[frozenset[int], tuple[Outcome, Sameness]] = {}
        self._edits: list[Edit] = []
        self._ground: tuple[frozenset[int], Outcome] | None = None
        self._reference: tuple[Outcome, Outcome] | None = None
        self._stops = False

    def search(self) -> Result:
        """Run the program as it is, without any compile, and with edits; return what helps."""
        self._tell("the program as it is")
        plain = self._tries.run({}, is_afresh=True)
        self._tell("without any compile")
        result = Result(plain, self._tries.run({}, is_eager=True))
        try:
            if plain.problem or plain.run is None:
                result.ended = plain.problem or "the program compiles nothing"
            elif plain.record is None or not plain.record.calls:
                result.ended = "no call of compiled code returned, so no result can be compared"
            elif _has_edits(plain, self._only):
                self._begin(result)
                self._edit(result, plain.run)
        except OutOfBudgetError as error:
            result.ended = str(error)
        except KeyboardInterrupt:
            result.ended = "interrupted"
        try:
            self._verify(result)
        except KeyboardInterrupt:
            result.ended = "interrupted before the kept edits were run afresh"
            _keep_nothing(result)
        result.runs = self._tries.count
        return result

    def _begin(self, result: Result) -> None:
        """Decide whether tries may end after the calls that are compared, and set the runs to compare them with."""
        plain = result.plain
        self._reference = plain, result.eager
        if plain.record is None or plain.record.left_out <= self._tries.program.calls:
            return
        self._tell("the program as it is, up to the last call that is compared")
        short = self._tries.run({}, stops=True)
        if not short.problem and short.counts.badness == plain.counts.badness:
            self._stops = True
            # Without any compile, a run that ends early has other gradients at its end than a whole one.
            self._reference = short, self._tries.run({}, is_eager=True, stops=True)

    def _verify(self, result: Result) -> None:
        """Run the program with the kept edits in a new process, and beside it as it is, which gives the step's ratio.

        Only this run has all that a run of the user's has: no module was imported before, and no call is left out.
        """
        if result.patched is None or (self._tries.only_forks and not self._stops):
            return
        self._tell("the program as it is, and with all that is kept")
        again = self._tries.run({}) if result.plain.step is not None else None
        result.patched = self._tries.run(result.texts, is_afresh=True)
        border = self._border([self._number(tried) for tried in result.kept], stops=False)
        result.same = sameness(result.patched, result.plain, result.eager, border)
        if not result.same.is_equal:
            result.ended = f"the kept edits were dropped: run afresh, {result.same.words}"
            _keep_nothing(result)
        elif not is_better(result.plain.counts, result.patched.counts):
            changes = effect(result.plain, result.patched) or "nothing changes"
            result.ended = f"the kept edits were dropped: run afresh, {changes}"
            _keep_nothing(result)
        elif again is not None:
            result.ratio = step_ratio(again, result.patched)
            if result.ratio is not None and result.ratio < SLOWER:
                # Other processes of the machine slow down a run, too. A second pair decides.
                second = step_ratio(self._tries.run({}), self._tries.run(result.texts))
                result.ratio = max(result.ratio, second or 0.0)

    def _edit(self, result: Result, run: Run) -> None:
        assert self._reference is not None
        self._ground = frozenset(), self._reference[0]
        for _ in range(MOST_ROUNDS):
            # With a finding gone, the program may reach another one.
            if not self._propose(result, run):
                return
            self._choose(result)
            self._ground = self._next_ground(result)
            if self._ground[1].run is None:
                return
            run = self._ground[1].run

    def _next_ground(self, result: Result) -> tuple[frozenset[int], Outcome]:
        """Return the edits and their run from which the next round starts: what is kept, else all that are equal."""
        if result.patched is not None:
            return frozenset(self._number(tried) for tried in result.kept), result.patched
        assert self._reference is not None
        usable = [at for at, tried in enumerate(result.tried) if tried.state in USABLE]
        whole = _first_of_each(usable, result.tried)
        together = self._set(result, whole)
        return (frozenset(), self._reference[0]) if together is None else (frozenset(whole), together[0])

    def _propose(self, result: Result, run: Run) -> bool:
        """Add the edits for the findings of a run, each tried alone; return whether there is anything new."""
        assert self._ground is not None
        before = len(result.tried)
        is_retried = False
        seen = {tried.edit.key for tried in result.tried}
        for finding in self._ground[1].left:
            if self._only and self._only not in (finding.kind, str(finding.where)):
                continue
            for candidate in proposed(run, finding):
                edit = self._in_the_users_text(candidate)
                if edit is not None and edit.key in seen:
                    is_retried |= self._try_again(result, edit)
                    continue
                if edit is None:
                    continue
                seen.add(edit.key)
                # Of several edits for one finding, the first that helps is enough.
                if any(earlier.edit.subject == edit.subject and earlier.state == HELPS for earlier in result.tried):
                    continue
                self._edits.append(edit)
                if self._is_known():
                    self._edits.pop()
                    continue
                tried = self._alone(result, len(self._edits) - 1)
                if tried.state == REFUSED and edit.is_quiet:
                    self._edits.pop()
                    continue
                result.tried.append(replace(tried, finding=subject_of(finding)))
        return is_retried or len(result.tried) > before

    def _try_again(self, result: Result, edit: Edit) -> bool:
        """Try an edit that did harm on the ground of this round, and return whether it helps there.

        With `trace_autograd_ops`, a graph goes on to the next break, which may be gone by now.
        """
        assert self._ground is not None
        base = self._ground[0]
        harmful = (at for at, tried in enumerate(result.tried) if tried.state in (HARMS, TRADES))
        number = next((at for at in harmful if result.tried[at].edit.key == edit.key), None)
        if number is None or not base or base | {number} in self._known:
            return False
        again = self._alone(result, number)
        if again.state != HELPS:
            return False
        result.tried[number] = replace(again, finding=result.tried[number].finding)
        return True

    def _is_known(self) -> bool:
        """Return whether the last edit makes the same text as an earlier one: two findings may be at one statement."""
        assert self._ground is not None
        base, last = self._ground[0], len(self._edits) - 1
        try:
            texts = self._texts(sorted(base | {last}))
        except RefusedError:
            return False
        for number in range(last):
            try:
                if self._texts(sorted(base | {number})) == texts:
                    return True
            except RefusedError:
                continue
        return False

    def _in_the_users_text(self, edit: Edit) -> Edit | None:
        """Return an edit with the number of its line in the user's text, or of the line that an edit replaces by it."""
        assert self._ground is not None
        path = self._tries.program.path_of(edit.file)
        text = self._texts(sorted(self._ground[0])).get(path)
        if edit.is_of_file or text is None:
            return edit
        old = parsed(path).code
        line = line_before(old, text, edit.line) or line_replaced(old, text, edit.line)
        return replace(edit, line=line) if line else None

    def _alone(self, result: Result, number: int) -> Tried:
        edit = self._edits[number]
        if edit.is_offered:
            return self._offered(edit)
        try:
            parsed(self._tries.program.path_of(edit.file))
        except RefusedError as error:
            return Tried(edit, REFUSED, str(error))
        if not self._is_in_root(edit):
            return Tried(edit, REFUSED, "torch loses what a function reports that Dynamo inlines")
        assert self._ground is not None
        base, before = self._ground
        try:
            outcome, same = self._run(result, base | {number})
        except RefusedError as error:
            # Another edit may have the statement.
            rivals = {at for at in base if self._edits[at].key[:2] == edit.key[:2]}
            if not rivals:
                return Tried(edit, REFUSED, str(error))
            base -= rivals
            try:
                outcome, same = self._run(result, base | {number})
            except RefusedError:
                return Tried(edit, REFUSED, str(error))
        if not same.is_equal:
            return Tried(edit, DIFFERS, same.words, outcome, same)
        state = STATES[compare_counts(before.counts, outcome.counts)]
        if state == HELPS and edit.moves_border and takes_longer(before.counts, outcome.counts):
            state = TRADES  # a loop becomes a part of the graph, round by round
        removed = self._places(before, base) - self._places(outcome, base | {number})
        return Tried(edit, state, effect(before, outcome), outcome, same, removed=frozenset(removed))

    def _is_in_root(self, edit: Edit) -> bool:
        """Return whether the lines of an edit that must be are of functions that `torch.compile` was given."""
        assert self._reference is not None
        record = self._reference[0].record
        if edit.in_root is None or record is None:
            return True
        name = os.path.basename(edit.file)
        try:
            module = parsed(self._tries.program.path_of(edit.file))
            lines = edit.in_root(module, edit.line)
        except RefusedError:
            return False
        return all(f"{name}:{first_line_of_function(module, line)}" in record.entries for line in lines)

    def _offered(self, edit: Edit) -> Tried:
        """Return an edit that is not tried, if its preconditions hold."""
        try:
            edit.apply(parsed(self._tries.program.path_of(edit.file)), edit.line)
        except RefusedError as error:
            return Tried(edit, REFUSED, str(error))
        return Tried(edit, OFFERED, "it changes what the program computes")

    def _places(self, outcome: Outcome, chosen: frozenset[int]) -> set[tuple[str, str]]:
        """Return the findings of a run with edits by kind and place, with the lines of the user's text."""
        texts = self._texts(sorted(chosen))
        places = set()
        for finding in outcome.left:
            where = finding.where
            path = self._tries.program.path_of(where.file) if where is not None else ""
            if where is None or path not in texts:
                places.add(subject_of(finding))
                continue
            line = line_before(parsed(path).code, texts[path], where.line)
            places.add((finding.kind, f"{where.file}:{line}"))
        return places

    def _choose(self, result: Result) -> None:
        """Keep the smallest set of edits that is as good as all of them."""
        usable = [at for at, tried in enumerate(result.tried) if tried.state in USABLE]
        chosen = _first_of_each([at for at in usable if result.tried[at].state == HELPS], result.tried)
        others = [at for at in usable if at not in chosen]
        best = self._set(result, chosen)
        assert self._reference is not None
        plain = self._reference[0].counts
        if len(chosen) > 1 and (best is None or not is_better(plain, best[0].counts)):
            chosen, best = self._one_by_one(result, chosen)
        whole = _first_of_each([*chosen, *others], result.tried)
        trial = self._set(result, whole) if whole != chosen else best
        if trial is not None and self._is_preferred(trial[0], best):
            best, chosen = trial, whole
        for at in list(chosen):
            if _is_needed(result.tried, chosen, at):
                continue
            less = [number for number in chosen if number != at]
            trial = self._set(result, less)
            if best is None or trial is None:
                continue
            if compare_counts(best[0].counts, trial[0].counts) in (BETTER, EQUAL):
                best, chosen = trial, less
        self._keep(result, chosen, best)

    def _one_by_one(self, result: Result, helping: Sequence[int]) -> tuple[list[int], tuple[Outcome, Sameness] | None]:
        """Return edits that go together, from the one that helps most, and their run.

        Two edits may be for one statement, such as a branch and the report in it.
        """
        chosen: list[int] = []
        best: tuple[Outcome, Sameness] | None = None
        for at in sorted(helping, key=lambda number: _alone_badness(result.tried[number])):
            trial = self._set(result, [*chosen, at])
            if trial is not None and (best is None or is_better(best[0].counts, trial[0].counts)):
                chosen, best = [*chosen, at], trial
        return sorted(chosen), best

    def _is_preferred(self, trial: Outcome, best: tuple[Outcome, Sameness] | None) -> bool:
        """Return whether a run with all edits replaces the best run so far: a set that may not be kept is no gain."""
        assert self._reference is not None
        plain = self._reference[0].counts
        if best is None or not is_better(plain, best[0].counts):
            return True
        return is_better(plain, trial.counts) and trial.counts.badness < best[0].counts.badness

    def _keep(self, result: Result, chosen: Sequence[int], best: tuple[Outcome, Sameness] | None) -> None:
        assert self._reference is not None
        if best is None or not is_better(self._reference[0].counts, best[0].counts):
            return
        result.patched, result.same = best
        result.texts = self._texts(chosen)
        for at, tried in enumerate(result.tried):
            state = NOT_NEEDED if tried.state == HELPS and at not in chosen else tried.state
            result.tried[at] = replace(tried, is_kept=at in chosen, state=state)

    def _set(self, result: Result, chosen: Sequence[int]) -> tuple[Outcome, Sameness] | None:
        """Return the run with a set of edits if its results are equal, else None."""
        if not chosen:
            return None
        try:
            trial = self._run(result, frozenset(chosen))
        except RefusedError:
            return None
        return trial if trial[1].is_equal else None

    def _run(self, result: Result, chosen: frozenset[int]) -> tuple[Outcome, Sameness]:
        if chosen not in self._known:
            texts = self._texts(sorted(chosen))
            if self._tries.count >= self._most:
                raise OutOfBudgetError(f"{self._most} runs were made (--max-tries)")
            if time.monotonic() - self._tries.began > self._seconds:
                raise OutOfBudgetError(f"{self._seconds:.0f} s have passed (--budget)")
            self._tell("; ".join(self._edits[number].what for number in sorted(chosen)))
            outcome = self._tries.run(texts, stops=self._stops)
            border = self._border(chosen, stops=self._stops)
            assert self._reference is not None
            self._known[chosen] = outcome, sameness(outcome, *self._reference, border)
        return self._known[chosen]

    def _border(self, chosen: Iterable[int], *, stops: bool) -> Outcome | None:
        """Return the run without any compile to compare a set of edits with, if one of them moves the border."""
        if not any(self._edits[number].moves_border for number in chosen):
            return None
        return self._tries.run(self._texts(sorted(chosen)), is_eager=True, stops=stops)

    def _texts(self, chosen: Sequence[int]) -> dict[str, str]:
        """Return the texts of the files with a set of edits, from the last line of a file to the first."""
        texts: dict[str, str] = {}
        edits = [self._edits[number] for number in chosen]
        for edit in sorted(edits, key=lambda edit: (edit.is_of_file, -edit.line)):
            path = self._tries.program.path_of(edit.file)
            text = texts.get(path)
            module = cst.parse_module(text) if text is not None else parsed(path)
            texts[path] = edit.apply(module, edit.line).code
        for path, text in texts.items():
            others = changed_elsewhere(parsed(path).code, text)
            if others:
                raise RefusedError(f"it changes the bytecode of {', '.join(others)}")
        return texts

    def _number(self, tried: Tried) -> int:
        return next(at for at, edit in enumerate(self._edits) if edit is tried.edit)


def _alone_badness(tried: Tried) -> tuple[int, int, int]:
    """Return the order of the numbers of the run with an edit alone."""
    assert tried.outcome is not None
    return tried.outcome.counts.badness


def _has_edits(plain: Outcome, only: str) -> bool:
    """Return whether a finding of a run has an edit. Otherwise no more runs are needed."""
    assert plain.run is not None
    chosen = (finding for finding in plain.left if not only or only in (finding.kind, str(finding.where)))
    return any(proposed(plain.run, finding) for finding in chosen)


def _keep_nothing(result: Result) -> None:
    result.patched = result.same = None
    result.texts = {}
    result.tried = [replace(tried, is_kept=False) for tried in result.tried]


def _is_needed(tried: Sequence[Tried], chosen: Sequence[int], at: int) -> bool:
    """Return whether an edit alone removes a finding that no other chosen edit removes alone."""
    others: set[tuple[str, str]] = set().union(*(tried[number].removed for number in chosen if number != at))
    return tried[at].state == HELPS and bool(tried[at].removed - others)


def _first_of_each(numbers: Sequence[int], tried: Sequence[Tried]) -> list[int]:
    """Return the first of several edits for one finding."""
    firsts: dict[tuple[str, str], int] = {}
    for at in numbers:
        firsts.setdefault(tried[at].edit.subject, at)
    return sorted(firsts.values())


def proposed(run: Run, finding: Finding) -> list[Edit]:
    """Return the edits of the user's own files for a finding."""
    edits = [edit for propose in PROPOSERS for edit in propose(run, finding)]
    return [edit for edit in edits if edit.file and not is_foreign(edit.file)]


def effect(before: Outcome, after: Outcome) -> str:
    """Return what changed between two runs in words, such as `9 -> 2 compiles, 3 -> 0 breaks`."""
    rows = (
        ("failures", before.counts.failures, after.counts.failures),
        ("compiles", before.counts.compiles, after.counts.compiles),
        ("breaks", before.counts.breaks, after.counts.breaks),
        ("eager calls", before.counts.eager, after.counts.eager),
    )
    return ", ".join(f"{old} -> {other} {name}" for name, old, other in rows if old != other)


def left(result: Result) -> list[Finding]:
    """Return the findings that remain and are not merely good to know."""
    findings = (result.patched or result.plain).left
    return [finding for finding in findings if finding.severity != "low"]
