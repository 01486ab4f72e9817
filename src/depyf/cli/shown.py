"""The output of `depyf decompile --show`: the intermediate forms of code."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.bytecode.code import Code
from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.cli.target import Function, Module
from depyf.decompiler.pipeline.run import decompile, nested
from depyf.decompiler.pipeline.table import PASSES
from depyf.decompiler.show import listing
from depyf.decompiler.show.steps import After, Step, Steps, difference
from depyf.decompiler.steps import recording


def neutral(resolved: Module | Function) -> Code:
    """Return the version-neutral code of a target."""
    return resolved.code if isinstance(resolved, Module) else read(resolved.code)


def show_bytecode(code: Code) -> Iterator[str]:
    """Yield the normalised instructions of a code object and of its nested code.

    Raises DecompilationError for code that is not valid.
    """
    for code_object in reversed(nested(code)):
        yield f"# {code_object}\n{listing.text(normalise(code_object))}"


def show_after(code: Code, passes: tuple[str, ...], without: frozenset[str]) -> Iterator[str]:
    """Yield a code object and its nested code as the first of these passes leaves them.

    Raises DecompilationError for code that cannot be decompiled up to there.

    Args:
        code: the code object of a module or function.
        passes: the names of the passes.
        without: the passes to skip.
    """
    recorder = After(passes)
    with recording(recorder):
        decompile(code, without=without)
    for snapshot in reversed(recorder.found):
        yield f"# {snapshot.code}\n{snapshot.text or f'# {passes[0]}: {snapshot.why}'}".rstrip("\n") + "\n"


def show_steps(code: Code, limit: int, without: frozenset[str]) -> Iterator[str]:
    """Yield every rewrite: for each pass its announcement, and the lines that it removed and added.


    Raises DecompilationError for code that cannot be decompiled, after all earlier steps.

    Args:
        code: the code object of a module or function.
        limit: the number of the rewrite to stop before; 0 for none.
        without: the passes to skip.
    """
    recorder = Steps(limit)
    try:
        with recording(recorder):
            decompile(code, without=without)
    finally:
        for step in recorder.found:
            if step.changed or step.stopped:
                yield _step(step)


def _step(step: Step) -> str:
    lines = [f"# {step.name}: {step.code}"]
    does = DOES.get(step.name)
    if does is not None:
        lines.append(f"# {does}")
    lines += [f"#   {message}" for message in step.announced]
    if step.text != step.before:
        lines += difference(step)
    return "".join(f"{line}\n" for line in lines)


DOES = {registered.name: registered.does for registered in PASSES}
