"""What can be slipped into a model so that its check has to fail; the name says of which kind it is.

`inside` of a compiled function: a graph break, or a frame that runs eager. `between` two calls: a recompile.
"""

from __future__ import annotations

import copy
import functools
import gc
import sys
import time
import zlib
from collections.abc import Callable
from typing import Any

import torch

State = dict[str, Any]


def _printed(x: torch.Tensor, state: State) -> torch.Tensor:
    print("shape", x.shape)
    return x


def _branched(x: torch.Tensor, state: State) -> torch.Tensor:
    return x + 1 if x.sum() > 0 else x


def _as_number(x: torch.Tensor, state: State) -> torch.Tensor:
    return x * x.max().item()


def _broken(x: torch.Tensor, state: State) -> torch.Tensor:
    torch._dynamo.graph_break()
    return x


@torch._dynamo.disable
def _off(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def _disabled(x: torch.Tensor, state: State) -> torch.Tensor:
    return _off(x)


def _checksum(x: torch.Tensor, state: State) -> torch.Tensor:
    return x + zlib.crc32(b"weights") % 3


def _slept(x: torch.Tensor, state: State) -> torch.Tensor:
    time.sleep(0)
    return x


def _collected(x: torch.Tensor, state: State) -> torch.Tensor:
    gc.collect()
    return x


def _opened(x: torch.Tensor, state: State) -> torch.Tensor:
    with open(__file__, encoding="utf-8") as file:
        return x + len(file.readline()) * 0


def _in_a_loop(x: torch.Tensor, state: State) -> torch.Tensor:
    for _ in range(2):
        torch._dynamo.graph_break()
        x = x + 1
    return x


def _caller(x: torch.Tensor, state: State) -> torch.Tensor:
    return x + sys._getframe().f_lineno * 0


INSIDE: dict[str, Callable[[torch.Tensor, State], torch.Tensor]] = {
    "printed": _printed,
    "branched": _branched,
    "as_number": _as_number,
    "broken": _broken,
    "disabled": _disabled,
    "checksum": _checksum,
    "slept": _slept,
    "collected": _collected,
    "opened": _opened,
    "in_a_loop": _in_a_loop,
    "caller": _caller,
}


def _double(x: torch.Tensor, state: State) -> torch.Tensor:
    state["layer"].double()
    return x.double()


def _longer(x: torch.Tensor, state: State) -> torch.Tensor:
    return torch.cat([x, x])


def _strided(x: torch.Tensor, state: State) -> torch.Tensor:
    return x.t().contiguous().t()


def _with_grad(x: torch.Tensor, state: State) -> torch.Tensor:
    return x.clone().requires_grad_(True)


def _step(x: torch.Tensor, state: State) -> torch.Tensor:
    state["step"] = 2
    return x


def _scale(x: torch.Tensor, state: State) -> torch.Tensor:
    state["scale"] = 0.75
    return x


def _mode(x: torch.Tensor, state: State) -> torch.Tensor:
    state["mode"] = "decode"
    return x


def _grown(x: torch.Tensor, state: State) -> torch.Tensor:
    state["kept"].append(x)
    return x


def _new_function(x: torch.Tensor, state: State) -> torch.Tensor:
    state["activation"] = lambda y: y.relu()
    return x


def _partial(x: torch.Tensor, state: State) -> torch.Tensor:
    state["activation"] = functools.partial(torch.clamp, min=0)
    return x


def _copied(x: torch.Tensor, state: State) -> torch.Tensor:
    state["layer"] = copy.deepcopy(state["layer"]).double()
    return x.double()


BETWEEN: dict[str, Callable[[torch.Tensor, State], torch.Tensor]] = {
    "double": _double,
    "longer": _longer,
    "strided": _strided,
    "with_grad": _with_grad,
    "step": _step,
    "scale": _scale,
    "mode": _mode,
    "grown": _grown,
    "new_function": _new_function,
    "copied": _copied,
}
