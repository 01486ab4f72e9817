"""The replica against torch: the same entry, the same values, the same refusals.

Torch's side is the C++ guards of the entries, asked one by one in torch's own order.
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from benchmarks.bar import Bar, none_of, report
from benchmarks.other_inputs import ARGUMENTS, SETTINGS
from depyf.torch.adapters import seams
from depyf.torch.capture import live
from depyf.torch.replica.replica import Replica
from examples.toy_example import toy_example

CALLS = 100
BACKENDS = ("eager", "aot_eager", "inductor")
NO_ENTRY = "no entry"


def by_torch(a: object, b: object) -> str:
    """Return the compile id of the first entry of `toy_example` whose C++ guards hold."""
    for entry in live.entries(toy_example.__code__):
        if seams.entry_guard_manager(entry).check({"a": a, "b": b}):
            return live.compile_id(entry)
    return NO_ENTRY


def _inputs(number: int) -> tuple[Tensor, Tensor]:
    """Return random arguments that take one branch, then the other."""
    return torch.randn(10), torch.randn(10).abs() * (1 if number % 2 else -1)


def _compiled(backend: str, sizes: tuple[int, ...]) -> Replica:
    """Compile both branches for `sizes` and return the replica."""
    torch._dynamo.reset()
    compiled = torch.compile(toy_example, backend=backend)
    for size, sign in itertools.product(sizes, (1, -1)):
        compiled(torch.randn(size), sign * torch.rand(size))
    return Replica(toy_example)


def served(backend: str, sizes: tuple[int, ...]) -> list[Bar]:
    """Serve calls by both, and compare the entries and the values."""
    replica = _compiled(backend, sizes)
    compiled = torch.compile(toy_example, backend=backend)
    named, values = [], []
    for number in range(CALLS):
        a, b = _inputs(number)
        expected = by_torch(a, b)
        chosen = replica.which(a, b).entry or NO_ENTRY
        if chosen != expected:
            named.append(f"{chosen} instead of {expected}")
        if not torch.equal(replica(a, b), compiled(a, b)):
            values.append(f"call {number}")
    what = f"{backend}, entries for sizes {', '.join(map(str, sizes))}"
    return [
        none_of(f"{what}: calls with another entry than torch's", named, f"{CALLS}"),
        none_of(f"{what}: calls with other values than torch's", values, f"{CALLS}"),
    ]


def refused(sizes: tuple[int, ...]) -> list[Bar]:
    """Ask both about arguments and settings that are not what was compiled for."""
    replica = _compiled("eager", sizes)
    wrong, kinds = [], {"served": 0, "refused": 0}
    for setting, argument, first in itertools.product(SETTINGS, ARGUMENTS, (True, False)):
        a, b = _inputs(0)
        given = (ARGUMENTS[argument](a), b) if first else (a, ARGUMENTS[argument](b))
        with SETTINGS[setting]():
            expected = by_torch(*given)
            chosen = replica.which(*given).entry or NO_ENTRY
        kinds["refused" if expected == NO_ENTRY else "served"] += 1
        if chosen != expected:
            wrong.append(f"{'a' if first else 'b'} {argument}, {setting}: {chosen} instead of {expected}")
    note = f"{kinds['served']} served, {kinds['refused']} refused"
    what = f"entries for sizes {', '.join(map(str, sizes))}"
    return [none_of(f"{what}: other verdicts than the C++ guards", wrong, f"{sum(kinds.values())}", note)]


def measure() -> list[Bar]:
    """Compare with one entry, and with two of which the second has a dynamic size."""
    bars = [bar for backend in BACKENDS for sizes in ((10,), (10, 8)) for bar in served(backend, sizes)]
    return bars + refused((10,)) + refused((10, 8))


if __name__ == "__main__":
    report(measure())
