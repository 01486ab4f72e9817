"""Candidates for a lower compile time, from the facts of a measured run, each with its predicted seconds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import libcst as cst

from depyf.fix.edit import Edit, event_of
from depyf.fix.edits.marks import marked_dimensions
from depyf.fix.savings_edits import Change, compile_blocks, reuse_region, without_option, without_statement
from depyf.fix.savings_facts import (
    Blocks,
    Measured,
    are_of_torch,
    begins_with_input,
    blocks_of,
    has_gradients,
    share_of_blocks,
    share_of_first,
)
from depyf.fix.savings_floor import Floor, Stages
from depyf.model.run import Compile
from depyf.trace import event_stages as stages

LEAST_SECONDS, LEAST_SHARE = 0.1, 0.05
"""A saving is tried if it is predicted to be at least this long, and at least this share of the compile time."""
BORDER, AUTOTUNING, SIZES, CACHE = "border", "autotuning", "sizes", "cache"
KERNELS_OF_A_BLOCK = 0.6
"""The kernels of a compiled block per kernel of the whole model. Equal kernels are compiled once in both."""
_COMPILERS = (stages.CPP, stages.TRITON, stages.WAITING)
_REUSED = (stages.TRACING, stages.LOWERING, stages.SCHEDULING, stages.GENERATION, stages.CPP, stages.WAITING)
_CACHED = (
    *(stages.JOINT, stages.PARTITION, stages.PASSES, stages.LOWERING, stages.SCHEDULING, stages.GENERATION),
    *(stages.CPP, stages.TRITON, stages.TUNING, stages.WAITING),
)
"""The stages that a second start leaves out if torch's caches hold the graph and its kernels."""
CACHE_SWITCHES = {
    "force_disable_caches": "True",
    "fx_graph_cache": "False",
    "enable_autograd_cache": "False",
    "autotune_local_cache": "False",
}
"""Settings of torch that switch a cache off, with the value that does."""


@dataclass(frozen=True)
class Saving:
    """A change of the program that may lower its compile time.

    kind: of two savings of one kind, the program can use one.
    why: the fact that speaks for it.
    seconds: the predicted saving.
    patched: the edit of the patch; `tried` is that of the try, which may record results.
    watches: as in `TimedPlan`.
    is_second_start: whether the second start of two is measured, which finds the caches of the first.
    """

    kind: str
    file: str
    line: int
    what: str
    why: str
    seconds: float
    patched: Change
    tried: Change
    watches: bool = False
    is_second_start: bool = False

    @property
    def place(self) -> str:
        """Return its file and line."""
        return f"{self.file}:{self.line}"


def savings_of(measured: Measured, text_of: Callable[[str], str], floors: Mapping[str, Floor]) -> list[Saving]:
    """Return the savings that are worth a try, the largest predicted first.

    Args:
        measured: the program as it is.
        text_of: returns the text of a file of the user's.
        floors: for each backend, what the smallest graph takes.
    """
    least = max(LEAST_SECONDS, LEAST_SHARE * measured.seconds)
    proposed = [
        *(saving for blocks in blocks_of(measured) for saving in _of_blocks(measured, blocks, floors)),
        *_of_autotuning(measured, text_of),
        *_of_sizes(measured, floors),
        *_of_caches(measured, text_of),
    ]
    return sorted((saving for saving in proposed if saving.seconds >= least), key=lambda saving: -saving.seconds)


def _of_blocks(measured: Measured, blocks: Blocks, floors: Mapping[str, Floor]) -> Iterator[Saving]:
    """Yield the compile of blocks instead of the model, and the reuse of a region of the compiled model."""
    before, floor = measured.stages(blocks.compile_id), floors.get(blocks.compiled.backend, Floor())
    run, site = " and ".join(_named(repeat.first, repeat.last) for repeat in blocks.repeats), blocks.site
    whole = sum(before.values())
    why = f"{run} are equal graphs; their compile takes {whole:.1f} s"
    if site.is_module:
        of_torch = are_of_torch(measured, blocks)
        where = ", ".join(f"`{container}`" if container else "the model" for container in blocks.containers)
        yield Saving(
            BORDER,
            site.file,
            site.line,
            f"compile each block of {where}, not the model",
            why,
            whole - _after_blocks(measured, blocks, floor),
            compile_blocks(blocks.containers, is_tried=False, of_torch=of_torch),
            compile_blocks(blocks.containers, is_tried=True, of_torch=of_torch),
            watches=True,
        )
    file, name = blocks.repeats[0].where, _class_of(measured, blocks)
    if file is not None and name and stages.LOWERING in before:
        mark = reuse_region(name)
        saved = whole - _after_reuse(measured, blocks, floor)
        what = f"`torch.compiler.nested_compile_region` on `{name}.forward`"
        yield Saving(BORDER, file.filename, file.line, what, why, saved, mark, mark)


def _named(first: str, last: str) -> str:
    return f"`{first}` to `{last}`"


def _class_of(measured: Measured, blocks: Blocks) -> str:
    """Return the name of the class of equal blocks, or "" if it is unknown."""
    assert measured.times is not None
    rows = [repetition for repetition in measured.times.repetitions if repetition.compile == blocks.compile_id]
    return rows[0].kind if len({row.kind for row in rows}) == 1 else ""


def _after_blocks(measured: Measured, blocks: Blocks, floor: Floor) -> float:
    """Return the predicted seconds of compiling one block of each run, and nothing around them.

    A first block without a gradient for its input is compiled for itself, if the others have one.
    """
    again = 2 if has_gradients(blocks.compiled) and begins_with_input(measured, blocks) else 1
    share = min(again * share_of_first(blocks.repeats), 1.0)
    kernels = min(again * KERNELS_OF_A_BLOCK, 1.0)
    left = dict.fromkeys(_COMPILERS, kernels)
    before = measured.stages(blocks.compile_id)
    later = sum(floor.later.get(stage, 0.0) for stage in before if stage not in left)
    return _scaled(before, floor.first, lambda stage: left.get(stage, share)) + (again - 1) * later


def _after_reuse(measured: Measured, blocks: Blocks, floor: Floor) -> float:
    """Return the predicted seconds if torch traces and lowers one block of each run, and reuses the code."""
    share = 1.0 - share_of_blocks(blocks.repeats) + share_of_first(blocks.repeats)
    return _scaled(measured.stages(blocks.compile_id), floor.first, lambda stage: share if stage in _REUSED else 1.0)


def _scaled(before: Stages, floor: Stages, share: Callable[[str], float]) -> float:
    """Return the seconds of all stages if what exceeds the floor shrinks to a share."""
    return sum(
        min(seconds, floor.get(stage, 0.0)) + share(stage) * max(seconds - floor.get(stage, 0.0), 0.0)
        for stage, seconds in before.items()
    )


def _of_autotuning(measured: Measured, text_of: Callable[[str], str]) -> Iterator[Saving]:
    """Yield `torch.compile` without the mode that tries several kernels for each operation."""
    seconds = sum(measured.stages().get(stage, 0.0) for stage in (stages.TUNING,))
    why = f"autotuning takes {seconds:.1f} s"
    for site in dict.fromkeys((site.file, site.line) for site in measured.sites):
        line = dict(enumerate(text_of(site[0]).splitlines(), start=1)).get(site[1], "")
        if "max-autotune" in line:
            without = without_option("mode")
            yield Saving(AUTOTUNING, *site, "torch.compile without `mode`", why, seconds, without, without)


def _of_sizes(measured: Measured, floors: Mapping[str, Floor]) -> Iterator[Saving]:
    """Yield `dynamic=True` for functions that were compiled first for one size and then for others."""
    for edit, family in _of_other_sizes(measured):
        costs = [sum(measured.stages(str(compiled.id)).values()) for compiled in family]
        floor = floors.get(family[0].backend, Floor())
        # The last compile serves all sizes. It becomes the first of the process, and needs what that one needs once.
        once = max(sum(floor.first.values()) - sum(floor.later.values()), 0.0)
        why = f"{len(costs)} compiles, of which others are for other sizes, take {sum(costs):.1f} s"
        yield Saving(SIZES, edit.file, edit.line, edit.what, why, sum(costs[:-1]) - once, edit.apply, edit.apply)


def _of_other_sizes(measured: Measured) -> Iterator[tuple[Edit, list[Compile]]]:
    """Yield the edit for each function that was compiled for several sizes, and its compiles."""
    run = measured.outcome.run
    for finding in measured.outcome.left if run is not None else ():
        assert run is not None
        edit = next((edit for edit in marked_dimensions(run, finding) if edit.is_of_file), None)
        event = event_of(run, finding)
        if edit is not None and event is not None:
            root = event.cause.function.root
            yield edit, [compiled for function, compiled in run.session.compiles() if function.root == root]


def compiles_to_predict(measured: Measured) -> list[Compile]:
    """Return the compiles whose savings are predicted from the smallest graph."""
    return [
        *(blocks.compiled for blocks in blocks_of(measured)),
        *(family[0] for _, family in _of_other_sizes(measured)),
    ]


def _of_caches(measured: Measured, text_of: Callable[[str], str]) -> Iterator[Saving]:
    """Yield the removal of statements that switch a cache off, for the second start of the program."""
    seconds = sum(measured.stages().get(stage, 0.0) for stage in _CACHED)
    for file in dict.fromkeys(site.file for site in measured.sites):
        for line, setting in _switches(text_of(file)):
            why = f"`{setting}` switches a cache off, so that each start compiles again"
            what = "the statement goes"
            yield Saving(
                CACHE, file, line, what, why, seconds, without_statement, without_statement, is_second_start=True
            )


def _switches(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each statement that switches a cache off."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            name = node.targets[0].attr
            if CACHE_SWITCHES.get(name) == ast.unparse(node.value):
                yield node.lineno, name


def applied(saving: Saving, text: bytes | str, *, is_tried: bool) -> str:
    """Return the text of a file with a saving.

    Args:
        saving: the saving.
        text: the content of the user's file.
        is_tried: whether the edit is for a measured run, and not for the patch.

    Raises:
        RefusedError: its preconditions do not hold.
    """
    change = saving.tried if is_tried else saving.patched
    return change(cst.parse_module(text), saving.line).code
