"""Facts of a measured run: the seconds of its stages, its equal blocks, and the calls that compiled them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from depyf.fix.savings_plan import Site
from depyf.fix.tries import Outcome
from depyf.model.compile_times import OWN, CompileTimes
from depyf.model.names import compiled_fn_number, graph_number
from depyf.model.parts import GuardSet
from depyf.model.repeats import Repeat, reads_an_input
from depyf.model.run import Compile, Function, Session
from depyf.model.user_source import is_foreign


@dataclass(frozen=True)
class Measured:
    """A run whose compiles were measured.

    times: None if the run left none.
    """

    outcome: Outcome
    times: CompileTimes | None
    sites: list[Site] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Return the seconds that the program waited for compiles, without depyf's own work."""
        return sum(self.stages().values())

    @property
    def cold(self) -> float | None:
        """Return the seconds from the start of the process to the end of its last compile, without depyf's own work."""
        if self.times is None or self.times.start is None:
            return None
        overhead = sum(cell.seconds for cell in self.times.cells if cell.stage == OWN)
        return self.times.start.seconds - overhead - self.times.start.imports.get("depyf", 0.0)

    @property
    def step(self) -> float | None:
        """Return the median seconds of a call after the first ones."""
        return self.outcome.step

    def stages(self, compile_id: str | None = None) -> dict[str, float]:
        """Return the seconds of each stage, of one compile or of all, without depyf's own work."""
        sums: Counter[str] = Counter()
        for cell in self.times.cells if self.times is not None else ():
            if cell.stage != OWN and compile_id in (None, cell.compile):
                sums[cell.stage] += cell.seconds  # type: ignore[assignment]
        return dict(sums)


@dataclass(frozen=True)
class Blocks:
    """The equal blocks of one compile, with the call of `torch.compile` that asked for it."""

    function: Function
    compiled: Compile
    repeats: tuple[Repeat, ...]
    site: Site

    @property
    def compile_id(self) -> str:
        """Return the id of the compile."""
        return str(self.compiled.id)

    @property
    def containers(self) -> list[str]:
        """Return the paths of the modules that hold the blocks, from the compiled module."""
        return list(dict.fromkeys(repeat.first.rpartition(".")[0] for repeat in self.repeats))


def blocks_of(measured: Measured) -> Iterator[Blocks]:
    """Yield the compiles with equal blocks whose call of `torch.compile` is known."""
    run = measured.outcome.run
    for function, compiled in run.session.compiles() if run is not None else ():
        repeats = tuple(repeat for repeat in compiled.repeats if repeat.first)
        site = _site(measured.sites, run.session, function) if run is not None else None
        if repeats and site is not None:
            yield Blocks(function, compiled, repeats, site)


def _site(sites: list[Site], session: Session, function: Function) -> Site | None:
    """Return the only call that compiled the root of a function."""
    root = session.functions[function.root]
    name = Path(root.filename).name
    same = [site for site in sites if site.code_line == root.first_line and Path(site.code_file).name == name]
    if (root.name, name) == _WRAPPER:
        same = [site for site in sites if is_foreign(site.code_file)]
    return same[0] if len(same) == 1 else None


_WRAPPER = ("inner", "external_utils.py")
"""The function that Dynamo puts around the `forward` of a library's module, such as `Sequential`."""


def has_gradients(compiled: Compile) -> bool:
    """Return whether the results of a compile need gradients: an input does, and gradients are on."""
    guards = compiled.guards
    clauses = [guard.clause for guard in guards.guards] if isinstance(guards, GuardSet) else []
    is_off = any("grad_mode=False" in clause for clause in clauses)
    return not is_off and any("requires_grad=True" in clause for clause in clauses)


def begins_with_input(measured: Measured, blocks: Blocks) -> bool:
    """Return whether the first block works on an input of the graph."""
    run = measured.outcome.run
    assert run is not None
    numbers = {compiled_fn_number(name) for name in blocks.compiled.compiled_fns}
    files = [path for path in run.directory.glob("*.Captured_Graph.*") if graph_number(path.name) in numbers]
    return any(reads_an_input(path.read_text("utf-8"), repeat) for path in files for repeat in blocks.repeats)


def are_of_torch(measured: Measured, blocks: Blocks) -> bool:
    """Return whether the class of the blocks is torch's: the outermost function of the first block is."""
    times, first = measured.times, blocks.repeats[0].first
    assert times is not None
    places = [place for place in times.places if place.module == first]
    outermost = [place for place in places if place.caller < 0 or times.places[place.caller].module != first]
    return bool(outermost) and outermost[0].of_torch


def share_of_blocks(repeats: tuple[Repeat, ...]) -> float:
    """Return the share of a graph's operations that lie in equal blocks."""
    return sum(repeat.blocks * repeat.operations for repeat in repeats) / repeats[0].whole


def share_of_first(repeats: tuple[Repeat, ...]) -> float:
    """Return the share of a graph's operations that lie in the first block of each run of blocks."""
    return sum(repeat.operations for repeat in repeats) / repeats[0].whole
