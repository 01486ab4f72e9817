"""Try edits that may lower the compile time: each alone with empty caches, then the best of each kind together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from depyf.fix.edit import RefusedError
from depyf.fix.results import compare
from depyf.fix.savings_candidates import BORDER, LEAST_SHARE, Saving, applied, compiles_to_predict, savings_of
from depyf.fix.savings_facts import Measured, has_gradients
from depyf.fix.savings_floor import BACKENDS, FIRST, SECOND, Floor, write_smallest
from depyf.fix.savings_plan import TimedPlan, read_sites
from depyf.fix.search import OutOfBudgetError
from depyf.fix.trees import parsed
from depyf.fix.tries import Outcome, Sameness, Tries, sameness
from depyf.fix.unchanged import changed_elsewhere
from depyf.model.compile_times import read_times
from depyf.model.user_source import is_foreign

HELPS, NO_GAIN, DIFFERS, REFUSED, NOT_BEST = "helps", "no gain", "differs", "refused", "another is better"
CHILD = "depyf.fix.savings_child"


@dataclass(frozen=True)
class TriedSaving:
    """A saving with what became of it.

    before: the seconds that the program without it waits for compiles; 0.0 if it was not run.
    made: the run with it; None if it was refused.
    """

    saving: Saving
    state: str
    words: str = ""
    before: float = 0.0
    made: Measured | None = None
    same: Sameness | None = None
    is_kept: bool = False

    @property
    def saved(self) -> float | None:
        """Return the measured saving in seconds, or None if it was not measured."""
        return self.before - self.made.seconds if self.made is not None and self.before else None


@dataclass
class Savings:
    """All that was tried. `made` is the run with all kept savings, `texts` the files of the patch."""

    plain: Measured
    eager: Outcome
    tried: list[TriedSaving] = field(default_factory=list)
    made: Measured | None = None
    same: Sameness | None = None
    texts: dict[str, str] = field(default_factory=dict)
    ended: str = ""

    @property
    def kept(self) -> list[TriedSaving]:
        """Return the kept savings."""
        return [saving for saving in self.tried if saving.is_kept]


class SavingsSearch:
    """A search over the savings of a program.

    most: the most runs.
    seconds: no run begins after this time.
    by_processor: as in `TimedPlan`.
    tell: receives a line about each run.
    smallest: what the smallest graph takes, by its backend and whether it has gradients.
    """

    def __init__(
        self, tries: Tries, most: int, seconds: float, tell: Callable[[str], None], *, by_processor: bool = False
    ) -> None:
        self.smallest: dict[tuple[str, bool], Floor] = {}
        self._tries, self._most, self._seconds, self._tell = tries, most, seconds, tell
        self._by_processor = by_processor
        self._second_start: Measured | None = None

    def search(self) -> Savings:
        """Run the program as it is, without any compile, and with each saving; return what helps."""
        plain = self._measured("the program as it is", {})
        self._tell("without any compile")
        result = Savings(plain, self._tries.run({}, is_eager=True))
        try:
            if plain.outcome.problem or plain.times is None or not plain.seconds:
                result.ended = plain.outcome.problem or "the program compiles nothing"
            elif plain.outcome.record is None or not plain.outcome.record.calls:
                result.ended = "no call of compiled code returned, so no result can be compared"
            else:
                for saving in savings_of(plain, self._text_of, self._floors(plain)):
                    if not is_foreign(saving.file) and not _has_border(result, saving):
                        result.tried.append(self._alone(result, saving))
                self._choose(result)
        except OutOfBudgetError as error:
            result.ended = str(error)
            self._choose(result, may_run=False)
        except KeyboardInterrupt:
            result.ended = "interrupted"
        return result

    def _floors(self, plain: Measured) -> dict[str, Floor]:
        """Return what the smallest graph takes, for each backend with compiles whose savings are predicted from it."""
        floors: dict[str, Floor] = {}
        for compiled in compiles_to_predict(plain):
            backend = compiled.backend
            key = backend, has_gradients(compiled)
            if backend in BACKENDS and key not in self.smallest:
                smallest = self._measured(f"the smallest graph under {backend}", {}, smallest=key)
                self.smallest[key] = Floor(smallest.stages(FIRST), smallest.stages(SECOND))
            floors[backend] = self.smallest.get(key, Floor())
        return floors

    def _alone(self, result: Savings, saving: Saving) -> TriedSaving:
        try:
            texts = self._texts([saving], is_tried=True)
        except RefusedError as error:
            return TriedSaving(saving, REFUSED, str(error))
        before = result.plain
        if saving.is_second_start:
            self._second_start = self._second_start or self._measured("its second start", {}, starts=2)
            before = self._second_start
        measured = self._measured(saving.what, texts, watches=saving.watches, starts=1 + saving.is_second_start)
        same = _sameness(measured.outcome, before.outcome, result.eager)
        if not same.is_equal:
            return TriedSaving(saving, DIFFERS, same.words, before.seconds, measured, same)
        if not measured.seconds:
            return TriedSaving(saving, DIFFERS, "nothing is compiled with it", before.seconds, measured, same)
        is_better = before.seconds - measured.seconds >= LEAST_SHARE * before.seconds
        return TriedSaving(saving, HELPS if is_better else NO_GAIN, same.words, before.seconds, measured, same)

    def _choose(self, result: Savings, *, may_run: bool = True) -> None:
        """Keep the best saving of each kind; measure them together if there are several."""
        best: dict[str, TriedSaving] = {}
        for tried in (tried for tried in result.tried if tried.state == HELPS):
            other = best.get(tried.saving.kind)
            if other is None or (tried.saved or 0.0) > (other.saved or 0.0):
                best[tried.saving.kind] = tried
        chosen = sorted(best.values(), key=lambda tried: -(tried.saved or 0.0))
        if len(chosen) > 1:
            together = self._together(result, [tried.saving for tried in chosen]) if may_run else None
            if together is None:
                chosen = chosen[:1]
            else:
                result.made, result.same = together
        if len(chosen) == 1:
            result.made, result.same = chosen[0].made, chosen[0].same
        if chosen:
            result.texts = self._texts([tried.saving for tried in chosen], is_tried=False)
        for at, tried in enumerate(result.tried):
            state = NOT_BEST if tried.state == HELPS and tried not in chosen else tried.state
            result.tried[at] = replace(tried, is_kept=tried in chosen, state=state)

    def _together(self, result: Savings, savings: Sequence[Saving]) -> tuple[Measured, Sameness] | None:
        try:
            texts = self._texts(savings, is_tried=True)
            measured = self._measured("together", texts, watches=any(saving.watches for saving in savings))
        except (RefusedError, OutOfBudgetError):
            return None
        same = _sameness(measured.outcome, result.plain.outcome, result.eager)
        return (measured, same) if same.is_equal else None

    def _measured(
        self,
        what: str,
        texts: dict[str, str],
        *,
        watches: bool = False,
        starts: int = 1,
        smallest: tuple[str, bool] | None = None,
    ) -> Measured:
        """Return the last of some starts that share caches, which are empty at the first.

        smallest: the backend of the smallest program, which runs in place of the user's, and whether it has gradients.
        """
        program, tries = self._tries.program, self._tries
        folder = caches = None
        for start in range(starts):
            if tries.count >= self._most:
                raise OutOfBudgetError(f"{self._most} runs were made (--max-tries)")
            if time.monotonic() - tries.began > self._seconds:
                raise OutOfBudgetError(f"{self._seconds:.0f} s have passed (--budget)")
            self._tell(what if not start else f"{what}, start {start + 1}")
            folder = tries.next_folder()
            caches = caches or folder / "caches"
            program.renew()
            plan = self._plan(folder, texts, watches)
            if smallest is not None:
                script = write_smallest(folder, smallest[0], has_gradients=smallest[1])
                plan = replace(plan, target=str(script), arguments=(), is_module=False, stops=False)
            outcome = tries.run_plan(plan, CHILD, _fresh(caches))
        assert folder is not None
        times = None if outcome.problem else read_times(folder / "dump")
        return Measured(outcome, times, read_sites(folder))

    def _plan(self, folder: Path, texts: dict[str, str], watches: bool) -> TimedPlan:
        program = self._tries.program
        return TimedPlan(
            program.target,
            program.arguments,
            str(folder),
            str(program.directory),
            program.is_module,
            texts,
            program.calls,
            program.stops,
            watches=watches,
            by_processor=self._by_processor,
        )

    def _texts(self, savings: Sequence[Saving], *, is_tried: bool) -> dict[str, str]:
        """Return the texts of the files with some savings, from the last line of a file to the first.

        Raises:
            RefusedError: the preconditions of a saving do not hold, or it changes another function.
        """
        texts: dict[str, str] = {}
        for saving in sorted(savings, key=lambda saving: -saving.line):
            path = self._tries.program.path_of(saving.file)
            texts[path] = applied(saving, texts.get(path) or self._text_of(path), is_tried=is_tried)
        for path, text in texts.items():
            others = changed_elsewhere(self._text_of(path), text)
            if others:
                raise RefusedError(f"it changes the bytecode of {', '.join(others)}")
        return texts

    def _text_of(self, file: str) -> str:
        path = Path(self._tries.program.path_of(file))
        if not path.is_file() or is_foreign(str(path)):
            return ""
        return parsed(path).code


@dataclass(frozen=True)
class _AsEager(Sameness):
    """Results that equal eager's where those of the program as it is do not.

    For example, a compiled model gives zeros as the gradient of a parameter that the loss does not need; eager and a
    model whose blocks are compiled give none.
    """

    @property
    def words(self) -> str:
        """Return the comparison in words for the table."""
        return f"{super().words}, as without any compile; those of the program as it is are others"


def _sameness(patched: Outcome, plain: Outcome, eager: Outcome) -> Sameness:
    """Compare a run with the program as it is; if that one is not as eager, with eager."""
    same = sameness(patched, plain, eager)
    if same.is_equal or compare(plain.record, eager.record).is_equal:
        return same
    as_eager = sameness(patched, replace(plain, record=eager.record), eager)
    return _AsEager(as_eager.with_plain, as_eager.with_eager) if as_eager.is_equal else same


def _has_border(result: Savings, saving: Saving) -> bool:
    """Return whether another part of the model is compiled already, with success."""
    return saving.kind == BORDER and any(tried.saving.kind == BORDER and tried.state == HELPS for tried in result.tried)


def _fresh(caches: Path) -> dict[str, str]:
    """Return the environment of a run whose caches lie in a folder."""
    return {"TORCHINDUCTOR_CACHE_DIR": str(caches), "TRITON_CACHE_DIR": str(caches / "triton")}


def is_better_first(tried: Sequence[TriedSaving]) -> Iterator[TriedSaving]:
    """Yield what was tried, the kept first, then by the measured saving."""
    yield from sorted(tried, key=lambda saving: (not saving.is_kept, -(saving.saved or 0.0)))
