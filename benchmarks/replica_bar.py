"""Print whether the replica of the toy example does what torch does: `python -m benchmarks.replica_bar [backend ...]`.

On random inputs through both branches it has to run the same entries, resume functions included, and return equal
tensors; on inputs with another dtype, shape and so on it has to refuse exactly when torch's C++ guards refuse.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import CodeType

import torch
from torch._C._dynamo.eval_frame import get_bytecode_debugger_callback, set_bytecode_debugger_callback

from corpus.guards.program import Change
from corpus.guards.programs.ambience import STATES
from corpus.guards.programs.tensors import PROGRAMS
from depyf.torch.adapters import seams
from depyf.torch.capture import live
from depyf.torch.replica.replica import Replica
from examples.toy_example import toy_example

CALLS = 100


@contextlib.contextmanager
def watched(ran: list[CodeType]) -> Iterator[None]:
    """Note the code of every entry that torch runs."""
    before = get_bytecode_debugger_callback()
    set_bytecode_debugger_callback(ran.append)
    try:
        yield
    finally:
        set_bytecode_debugger_callback(before)


def ids(replica: Replica) -> dict[int, str]:
    """Return torch's compile id of each code object that it runs for the function and its resume functions."""
    return {
        id(entry.code): live.compile_id(entry)
        for function in replica.functions
        for entry in live.entries(function.code)
    }


def random_inputs(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return inputs of which about half go each way."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(10, generator=generator), torch.randn(10, generator=generator)


def same_entries(compiled: Callable[..., torch.Tensor], replica: Replica) -> tuple[int, int, int]:
    """Return how many of the calls ran the same entries, how many gave equal tensors, and how many took the branch."""
    names = ids(replica)
    same = equal = branched = 0
    for seed in range(CALLS):
        a, b = random_inputs(seed)
        ran: list[CodeType] = []
        with watched(ran):
            expected = compiled(a, b)
        result = replica(a, b)
        same += [served.entry for served in replica.served] == [names[id(code)] for code in ran]
        equal += isinstance(result, torch.Tensor) and torch.equal(result, expected)
        branched += bool(b.sum() < 0)
    return same, equal, branched


def changes() -> list[Change]:
    """Return calls that differ from the compiled one in every way that torch's guards look at."""
    add = next(program for program in PROGRAMS if program.name == "add")
    states = [Change(name, lambda: random_inputs(0), state) for name, state in STATES.items()]
    return [*add.changes, *states, Change("random", lambda: random_inputs(1))]


def refusals(replica: Replica) -> tuple[int, int, int]:
    """Return how many changed calls are answered as torch answers, how many there are, and how many it refuses."""
    (entry,) = live.entries(toy_example.__code__)
    agree = refused = 0
    asked = changes()
    for change in asked:
        with change.around():
            a, b = change.arguments() if change.arguments else random_inputs(0)
            torch_serves = bool(seams.entry_guard_manager(entry).root.check({"a": a, "b": b}))
            chosen = replica.which(a, b)
        agree += torch_serves == (chosen.entry is not None)
        refused += not torch_serves
    return agree, len(asked), refused


def main(backends: list[str]) -> int:
    """Print the numbers for each backend."""
    good = True
    for backend in backends or ["eager", "aot_eager", "inductor"]:
        torch._dynamo.reset()
        compiled = torch.compile(toy_example, backend=backend)
        for seed in range(10):
            compiled(*random_inputs(seed))
        replica = Replica(compiled)
        same, equal, branched = same_entries(compiled, replica)
        agree, asked, refused = refusals(replica)
        good = good and same == equal == CALLS and agree == asked and 0 < branched < CALLS
        print(
            f"{backend:9} same entries {same}/{CALLS}, equal tensors {equal}/{CALLS}, {branched} through the branch; "
            f"refuses exactly as torch {agree}/{asked}, {refused} of them refused"
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
