"""What each process of the test's job does: the ranks agree on one function and differ on another.

torchrun --nproc-per-node 2 job.py DIRECTORY
"""

from __future__ import annotations

import sys

import torch
import torch.distributed

import depyf


def same(x):
    return torch.sin(x) + 1


def differs(x, breaks):
    x = x + 1
    if breaks:
        torch._dynamo.graph_break()
    return x * 2


def main(directory: str) -> None:
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    with depyf.prepare_debug(directory):
        torch.compile(same, backend="eager")(torch.ones(3))
        torch.compile(differs, backend="eager")(torch.ones(3), rank == 1)
        torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
