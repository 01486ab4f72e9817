"""The program that the tests of debuggers run: compiled and dumped, then called again under a debugger.

    python stepped.py DIRECTORY DEBUGGER BACKEND...

The files are in a folder for each backend. DEBUGGER is `pdb` for a program that stops by itself, `attach` for one that
waits for an editor once everything is compiled, and `none` for one that is debugged from its first line.
"""

from __future__ import annotations

import sys
import types

import torch

import depyf
from depyf.torch.adapters import other_code, seams


def stepped(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def main(directory: str, debugger: str, *backends: str) -> None:
    functions = [types.FunctionType(stepped.__code__.replace(), globals(), "stepped") for _ in backends]
    compiled = [torch.compile(function, backend=backend) for function, backend in zip(functions, backends, strict=True)]
    a, b = torch.full((4,), 3.0, requires_grad=True), torch.ones(4)
    for compiled_function, backend in zip(compiled, backends, strict=True):
        with depyf.prepare_debug(f"{directory}/{backend}", install=not other_code.is_there()):
            compiled_function(a, b).sum().backward()
    if debugger == "attach":
        import debugpy

        _, port = debugpy.listen(("127.0.0.1", 0))
        print("listening", port, flush=True)
        debugpy.wait_for_client()
    for function, compiled_function in zip(functions, compiled, strict=True):
        debugged(function, compiled_function, debugger)


def debugged(function, compiled, debugger: str) -> None:
    a, b = torch.full((4,), 3.0, requires_grad=True), torch.ones(4)
    entries = seams.cache_entries(function.__code__)
    frames = torch._dynamo.utils.counters["frames"]["total"]
    with depyf.debug():
        if debugger == "pdb":
            import pdb

            pdb.set_trace()
        result = compiled(a, b)
        result.sum().backward()
    print("results", result.tolist(), a.grad.tolist())
    again = seams.cache_entries(function.__code__)
    print(
        *("entries", len(entries), len(again)),
        *("frames", torch._dynamo.utils.counters["frames"]["total"] - frames),
        flush=True,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
