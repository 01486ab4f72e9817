"""A step of training on two ranks, of which one breaks its graph.

torchrun --standalone --nproc-per-node 2 examples/two_ranks.py
"""

import torch
import torch.distributed as dist


@torch.compile(backend="aot_eager")
def step(x: torch.Tensor, rank: int) -> torch.Tensor:
    y = x * 2 + 1
    if rank == 1:
        torch._dynamo.graph_break()
    return y.sum()


def main() -> None:
    dist.init_process_group("gloo")
    loss = step(torch.ones(4), dist.get_rank()).detach()
    dist.all_reduce(loss)
    print(loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
