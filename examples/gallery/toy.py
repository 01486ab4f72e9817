"""The smallest: one function, two ways through it.

    python examples/gallery/toy.py [eager|aot_eager|inductor]
"""

import sys

import torch


def toy_example(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def main(backend: str, calls: int = 100) -> None:
    """Compile `toy_example` with `backend` and call it with random inputs that take both ways."""
    torch.manual_seed(0)
    compiled = torch.compile(toy_example, backend=backend)
    for _ in range(calls):
        compiled(torch.randn(10), torch.randn(10))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "inductor")
