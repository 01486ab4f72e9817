"""Tensors that differ from call to call, and the state around a call."""

from __future__ import annotations

import colorsys
from typing import Any

import torch
from torch import Tensor

from corpus.advice.pair import follows, shows


def double(x: Any) -> Any:
    return x * 2  # here


def product(x: Any, y: Any) -> Any:
    return x.add_(1) * y


def in_state(x: Any) -> Any:
    return x * 2


def _calls(tensors: list[Any], **options: Any) -> list[Any]:
    compiled = torch.compile(double, backend="eager", **options)
    return [compiled(tensor) for tensor in tensors]


@shows("tensor-size")
def size() -> list[Any]:
    return _calls([torch.ones(4), torch.ones(5), torch.ones(6)])


@follows("tensor-size")
def size_marked() -> list[Any]:
    tensors = [torch.ones(4), torch.ones(5), torch.ones(6)]
    torch._dynamo.mark_dynamic(tensors[0], 0)
    return _calls(tensors)


def _luma(**options: Any) -> list[Any]:
    compiled = torch.compile(colorsys.rgb_to_yiq, backend="eager", **options)
    return [compiled(torch.ones(n) * 2, torch.ones(n), torch.ones(n))[0] for n in (4, 5, 6)]  # here


@shows("tensor-size-inside")
def size_inside() -> list[Any]:
    return _luma()


@follows("tensor-size-inside")
def dynamic_inside() -> list[Any]:
    return _luma(dynamic=True)


@shows("tensor-rank")
def rank() -> list[Any]:
    return [output.reshape(-1) for output in _calls([torch.ones(4, 2), torch.ones(4, 1, 2)])]


@follows("tensor-rank")
def one_rank() -> list[Any]:
    return [output.reshape(-1) for output in _calls([torch.ones(4, 2), torch.ones(4, 1, 2).reshape(4, 2)])]


@shows("tensor-stride")
def stride() -> list[Any]:
    return _calls([torch.ones(4, 3), torch.ones(3, 4).t()])


@follows("tensor-stride")
def contiguous() -> list[Any]:
    return _calls([torch.ones(4, 3).contiguous(), torch.ones(3, 4).t().contiguous()])


@shows("break-sparse")
def sparse() -> list[Any]:
    return [output.to_dense() for output in _calls([torch.ones(4, 3).to_sparse()])]


@follows("break-sparse")
def dense() -> list[Any]:
    return _calls([torch.ones(4, 3).to_sparse().to_dense()])


@shows("tensor-dtype")
def dtype() -> list[Any]:
    return [output.float() for output in _calls([torch.ones(4), torch.ones(4, dtype=torch.float64)])]


@follows("tensor-dtype")
def one_dtype() -> list[Any]:
    return _calls([torch.ones(4).to(torch.float32), torch.ones(4, dtype=torch.float64).to(torch.float32)])


@shows("tensor-device")
def device() -> list[Any]:
    return [tuple(output.shape) for output in _calls([torch.ones(4), torch.ones(4, device="meta")])]


@follows("tensor-device")
def one_device() -> list[Any]:
    return [tuple(output.shape) for output in _calls([torch.ones(4), torch.ones(4, device="cpu")])]


@shows("tensor-requires-grad")
def requires_grad() -> list[Any]:
    return [output.detach() for output in _calls([torch.ones(4), torch.ones(4, requires_grad=True)])]


@follows("tensor-requires-grad")
def detached() -> list[Any]:
    return _calls([torch.ones(4), torch.ones(4, requires_grad=True).detach()])


@shows("tensor-type")
def parameter() -> list[Any]:
    return [output.detach() for output in _calls([torch.ones(4), torch.nn.Parameter(torch.ones(4))])]


@follows("tensor-type")
def plain() -> list[Any]:
    return _calls([torch.ones(4), torch.nn.Parameter(torch.ones(4)).detach()])


@shows("tensor-dispatch-keys")
def conjugate() -> list[Any]:
    value = torch.ones(4, dtype=torch.complex64)
    return [output.resolve_conj() for output in _calls([value, value.conj()])]


@follows("tensor-dispatch-keys")
def resolved() -> list[Any]:
    value = torch.ones(4, dtype=torch.complex64)
    return _calls([value, value.conj().resolve_conj()])


@shows("tensor-aliasing")
def aliased() -> list[Any]:
    compiled, ones = torch.compile(product, backend="eager"), torch.ones(4)
    return [compiled(torch.ones(4), torch.ones(4)), compiled(ones, ones) / 2]  # here


@follows("tensor-aliasing")
def cloned() -> list[Any]:
    compiled, ones = torch.compile(product, backend="eager"), torch.ones(4)
    return [compiled(torch.ones(4), torch.ones(4)), compiled(ones, ones.clone())]


@shows("grad-mode")
def grad_mode() -> list[Any]:
    compiled, value = torch.compile(in_state, backend="eager"), torch.ones(4, requires_grad=True)
    with torch.no_grad():
        without = compiled(value)
    return [compiled(value).detach(), without]  # here


@shows("inference-mode")
def inference_mode() -> list[Any]:
    compiled = torch.compile(in_state, backend="eager")
    with torch.inference_mode():
        without = compiled(torch.ones(4))
    return [compiled(torch.ones(4)), without.clone()]  # here


@shows("function-transform")
def function_transform() -> list[Any]:
    compiled = torch.compile(in_state, backend="eager")
    batched = torch.vmap(compiled)(torch.ones(2, 4))
    return [compiled(torch.ones(4)), batched]  # here


class Drops(torch.nn.Module):
    """A module whose `forward` depends on whether it is in training."""

    def __init__(self) -> None:
        super().__init__()
        self.drop = torch.nn.Dropout(0.0)

    def forward(self, x: Any) -> Any:
        return self.drop(x)


@shows("train-eval")
def train_eval() -> list[Any]:
    module = Drops()
    compiled = torch.compile(module, backend="eager")
    first = compiled(torch.ones(4))
    module.eval()
    return [first, compiled(torch.ones(4))]  # here


def matmul(x: Any) -> Any:
    return x @ x


@shows("autocast")
def autocast() -> list[Any]:
    compiled = torch.compile(matmul, backend="eager")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        first = compiled(torch.ones(2, 2)).float()
    return [first, compiled(torch.ones(2, 2))]  # here


@follows("autocast")
def always_autocast() -> list[Any]:
    compiled = torch.compile(matmul, backend="eager")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return [compiled(torch.ones(2, 2)).float(), compiled(torch.ones(2, 2)).float()]


@shows("default-dtype")
def default_dtype() -> list[Any]:
    compiled = torch.compile(in_state, backend="eager")
    first = compiled(torch.ones(4, dtype=torch.float32))
    torch.set_default_dtype(torch.float64)
    try:
        return [first, compiled(torch.ones(4, dtype=torch.float32))]  # here
    finally:
        torch.set_default_dtype(torch.float32)


@follows("default-dtype")
def one_default_dtype() -> list[Any]:
    compiled = torch.compile(in_state, backend="eager")
    torch.set_default_dtype(torch.float64)
    try:
        return [compiled(torch.ones(4, dtype=torch.float32)), compiled(torch.ones(4, dtype=torch.float32))]
    finally:
        torch.set_default_dtype(torch.float32)


@shows("num-threads")
def num_threads() -> list[Any]:
    compiled, before = torch.compile(in_state, backend="eager"), torch.get_num_threads()
    first = compiled(torch.ones(4))
    torch.set_num_threads(before + 1)
    try:
        return [first, compiled(torch.ones(4))]  # here
    finally:
        torch.set_num_threads(before)


@follows("num-threads")
def threads_set_once() -> list[Any]:
    compiled, before = torch.compile(in_state, backend="eager"), torch.get_num_threads()
    torch.set_num_threads(before + 1)
    try:
        return [compiled(torch.ones(4)), compiled(torch.ones(4))]
    finally:
        torch.set_num_threads(before)


@shows("deterministic-algorithms")
def deterministic() -> list[Any]:
    compiled = torch.compile(in_state, backend="eager")
    first = compiled(torch.ones(4))
    torch.use_deterministic_algorithms(True)
    try:
        return [first, compiled(torch.ones(4))]  # here
    finally:
        torch.use_deterministic_algorithms(False)


@follows("deterministic-algorithms")
def deterministic_from_the_start() -> list[Any]:
    torch.use_deterministic_algorithms(True)
    try:
        return _calls([torch.ones(4), torch.ones(4)])
    finally:
        torch.use_deterministic_algorithms(False)


@shows("matmul-precision")
def matmul_precision() -> list[Any]:
    compiled = torch.compile(matmul, backend="eager")
    first = compiled(torch.ones(2, 2))
    torch.set_float32_matmul_precision("high")
    try:
        return [first, compiled(torch.ones(2, 2))]  # here
    finally:
        torch.set_float32_matmul_precision("highest")


@follows("matmul-precision")
def one_matmul_precision() -> list[Any]:
    compiled = torch.compile(matmul, backend="eager")
    torch.set_float32_matmul_precision("high")
    try:
        return [compiled(torch.ones(2, 2)), compiled(torch.ones(2, 2))]
    finally:
        torch.set_float32_matmul_precision("highest")


def rows_in_turn(x: Any) -> Any:
    total = torch.zeros(4)
    for row in x:  # here
        total = total * 2 + row
    return total


@shows("tensor-size-specialized")
def other_numbers_of_rows() -> list[Any]:
    compiled = torch.compile(rows_in_turn, backend="eager")
    return [compiled(torch.ones(rows, 4)) for rows in (3, 4, 5)]


@follows("tensor-size-specialized")
def padded_to_one_number() -> list[Any]:
    compiled = torch.compile(rows_in_turn, backend="eager")
    pad = torch.nn.functional.pad
    return [compiled(pad(torch.ones(rows, 4), (0, 0, 5 - rows, 0))) for rows in (3, 4, 5)]


def on_the_default_device(x: Tensor) -> Tensor:
    return x + torch.ones(4)


@shows("default-device")
def default_device() -> list[Any]:
    compiled = torch.compile(on_the_default_device, backend="eager")
    first = compiled(torch.ones(4))
    torch.set_default_device("cpu")
    try:
        return [first, compiled(torch.ones(4))]  # here
    finally:
        torch.set_default_device(None)


@follows("default-device")
def default_device_set_once() -> list[Any]:
    compiled = torch.compile(on_the_default_device, backend="eager")
    torch.set_default_device("cpu")
    try:
        return [compiled(torch.ones(4)), compiled(torch.ones(4))]
    finally:
        torch.set_default_device(None)


@shows("device-context")
def device_context() -> list[Any]:
    compiled = torch.compile(on_the_default_device, backend="eager")
    with torch.device("cpu"):
        first = compiled(torch.ones(4))
        with torch.device("cpu"):
            return [first, compiled(torch.ones(4))]  # here


@follows("device-context")
def one_device_context() -> list[Any]:
    compiled = torch.compile(on_the_default_device, backend="eager")
    with torch.device("cpu"):
        return [compiled(torch.ones(4)), compiled(torch.ones(4))]


def squares(parameters: list[torch.nn.Parameter]) -> Tensor:
    return sum((tensor.square().sum() for tensor in parameters), torch.zeros(()))  # here


def _squares_of_each_size() -> list[Any]:
    compiled = torch.compile(squares, backend="eager")
    return [compiled([torch.nn.Parameter(torch.ones(size, 3))]).detach() for size in (4, 5, 6)]


@shows("parameter-size")
def parameter_sizes() -> list[Any]:
    return _squares_of_each_size()


@follows("parameter-size")
def parameter_sizes_may_be_dynamic() -> list[Any]:
    with torch._dynamo.config.patch(force_parameter_static_shapes=False):
        return _squares_of_each_size()


def _of_a_class_of_its_own() -> torch.nn.Module:
    class Block(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + 1

    return Block()


class Holder(torch.nn.Module):
    def __init__(self, block: torch.nn.Module) -> None:
        super().__init__()
        self.block = block


def through_block(holder: Holder, x: Tensor) -> Tensor:
    return holder.block(x)  # here


@shows("class-defined-again")
def class_defined_again() -> list[Any]:
    compiled = torch.compile(through_block, backend="eager")
    return [compiled(Holder(_of_a_class_of_its_own()), torch.ones(4)) for _ in range(2)]


@follows("class-defined-again")
def class_defined_once() -> list[Any]:
    compiled = torch.compile(through_block, backend="eager")
    kind = type(_of_a_class_of_its_own())
    return [compiled(Holder(kind()), torch.ones(4)) for _ in range(2)]


def sum_of_both(first: Tensor, second: Tensor) -> Tensor:
    return first.sum() + second.sum()  # here


def _sums_of_equal_and_other_sizes() -> list[Any]:
    compiled = torch.compile(sum_of_both, backend="eager", dynamic=True)
    return [compiled(torch.ones(4), torch.ones(length)) for length in (4, 5)]


@shows("duck-size")
def sizes_equal_by_chance() -> list[Any]:
    return _sums_of_equal_and_other_sizes()


@follows("duck-size")
def sizes_are_symbols_of_their_own() -> list[Any]:
    with torch.fx.experimental._config.patch(use_duck_shape=False):
        return _sums_of_equal_and_other_sizes()
