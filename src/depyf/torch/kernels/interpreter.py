"""Triton's interpreter with everything that Inductor's kernels need: they run on any machine, line by line, in Python.

This file has no imports from depyf, because `depyf kernel` copies it into the files that it writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch

_SWITCH = "TRITON_INTERPRET"

_SAME = (
    "acos acosh asin asinh atan atanh ceil copysign cos cosh exp exp2 expm1 floor fmod hypot ldexp log log10 log1p log2"
    " nextafter remainder rsqrt sin sinh sqrt tan tanh trunc atan2 signbit isnan isinf pow erf erfc erfinv lgamma abs"
)
_OTHERS: dict[str, Callable[..., torch.Tensor]] = {
    "cyl_bessel_i0": torch.special.i0,
    "cyl_bessel_i1": torch.special.i1,
    "j0": torch.special.bessel_j0,
    "j1": torch.special.bessel_j1,
    "y0": torch.special.bessel_y0,
    "y1": torch.special.bessel_y1,
    "erfcx": torch.special.erfcx,
    "normcdf": torch.special.ndtr,
    "normcdfinv": torch.special.ndtri,
    "exp10": lambda x: torch.pow(10.0, x),
    "cbrt": lambda x: torch.copysign(x.abs().pow(1 / 3), x),
    "rcbrt": lambda x: torch.copysign(x.abs().pow(-1 / 3), x),
    "tgamma": lambda x: torch.special.gammaln(x).exp(),
    "sinpi": lambda x: torch.sin(x * torch.pi),
    "cospi": lambda x: torch.cos(x * torch.pi),
    "saturatef": lambda x: x.clamp(0.0, 1.0),
    "finitef": torch.isfinite,
    "isfinited": torch.isfinite,
    "ilogb": lambda x: torch.frexp(x).exponent - 1,
    "logb": lambda x: (torch.frexp(x).exponent - 1).to(x.dtype),
    "scalbn": torch.ldexp,
    "rhypot": lambda x, y: torch.hypot(x, y).reciprocal(),
    "fdim": lambda x, y: (x - y).clamp(min=0),
    "fma": lambda x, y, z: (x.double() * y.double() + z.double()).to(x.dtype),
    "round": lambda x: torch.copysign((x.abs() + 0.5).floor(), x),
    "llround": lambda x: torch.copysign((x.abs() + 0.5).floor(), x).long(),
    "llrint": lambda x: x.round().long(),
    **dict.fromkeys(("rint", "nearbyint"), torch.round),
    **dict.fromkeys(("add_rn", "add_rz", "add_rd", "add_ru"), torch.add),
    **dict.fromkeys(("sub_rn", "sub_rz", "sub_rd", "sub_ru"), torch.sub),
    **dict.fromkeys(("mul_rn", "mul_rz", "mul_rd", "mul_ru", "mul24"), torch.mul),
    **dict.fromkeys(("div_rn", "div_rz", "div_rd", "div_ru", "fast_dividef"), torch.true_divide),
    **dict.fromkeys(("sqrt_rn", "sqrt_rz", "sqrt_rd", "sqrt_ru"), torch.sqrt),
    **dict.fromkeys(("rcp_rn", "rcp_rz", "rcp_rd", "rcp_ru"), torch.reciprocal),
    **{f"fast_{name}f": getattr(torch, name) for name in ("sin", "cos", "tan", "log2", "log", "exp", "tanh", "log10")},
    "fast_powf": torch.pow,
}
_FUNCTIONS = {**{name: getattr(torch, name) for name in _SAME.split()}, **_OTHERS}
"""CUDA's libdevice functions by name. Triton's interpreter lacks all of them."""


def no_device() -> SimpleNamespace:
    """Return a Triton driver that answers Inductor's questions and runs nothing."""
    from triton.backends.compiler import GPUTarget

    return SimpleNamespace(
        get_current_target=lambda: GPUTarget("cuda", 80, 32),
        get_active_torch_device=lambda: torch.device("cpu"),
        get_current_device=lambda: 0,
        get_current_stream=lambda device=None: 0,
        is_active=lambda: True,
        get_device_interface=lambda: torch.cpu,
    )


def is_interpreting() -> bool:
    """Return whether Triton's kernels that are loaded now run in its interpreter."""
    return os.environ.get(_SWITCH) == "1"


@contextmanager
def interpreting() -> Iterator[None]:
    """Interpret Triton kernels that are loaded inside the context, on the CPU if there is no GPU.

    Raises:
        ImportError: triton is not installed.
    """
    import triton
    import triton.language as tl
    from torch._inductor.runtime import triton_helpers
    from triton.runtime import interpreter
    from triton.runtime.interpreter import InterpretedFunction, ReduceOps, ScanOps

    with ExitStack() as undo:
        undo.enter_context(mock.patch.dict(os.environ, {_SWITCH: "1"}))
        if not torch.cuda.is_available():
            driver = triton.runtime.driver
            undo.callback(setattr, driver, "_active", getattr(driver, "_active", None))
            driver.set_active(no_device())
            for name in ("set_driver_to_cpu", "set_driver_to_gpu"):
                undo.enter_context(mock.patch.object(triton_helpers, name, lambda: None))
        for name, function in _FUNCTIONS.items():
            if hasattr(tl.extra.libdevice, name):
                undo.enter_context(mock.patch.object(tl.extra.libdevice, name, _on_blocks(function)))
        for module in (tl, tl.standard, tl.random, triton_helpers):
            for name, member in list(vars(module).items()):
                if isinstance(member, triton.JITFunction):
                    undo.enter_context(mock.patch.object(module, name, InterpretedFunction(member.fn)))
        undo.enter_context(mock.patch.object(InterpretedFunction, "__call__", _called))
        before = getattr(interpreter, "_convert_float", None)
        if before is not None:
            undo.enter_context(mock.patch.object(interpreter, "_convert_float", _converted(before)))
        _take_own_kernels(undo)
        undo.enter_context(mock.patch.object(ReduceOps, "generic_reduce", _reduced))
        undo.enter_context(mock.patch.object(ScanOps, "generic_scan", _scanned))
        yield


def _take_own_kernels(undo: ExitStack) -> None:
    """Also interpret a program's own kernels. A file with one of Inductor's kernels does not need this."""
    import torch.utils._triton
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    # Dynamo traces them into its graphs only if torch finds a device for them.
    undo.enter_context(mock.patch.object(torch.utils._triton, "has_triton", lambda: True))
    if hasattr(CachingAutotuner, "_interpret_args_grid"):
        with_constants = _with_constants(CachingAutotuner._interpret_args_grid)
        undo.enter_context(mock.patch.object(CachingAutotuner, "_interpret_args_grid", with_constants))


def _with_constants(before: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that finds the grid of a launch. It also adds the constants of a program's own kernel."""

    def found(self: Any, args: tuple[Any, ...], config: Any) -> Any:
        constants = self.triton_meta.get("constants", {})
        for name in self.inductor_meta.get("declared_constexpr_names", ()):
            if name in constants:
                config.kwargs.setdefault(name, constants[name])
        return before(self, args, config)

    return found


def _on_blocks(function: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """Return a function that applies a function of torch's to blocks of the interpreter."""

    def applied(*blocks: Any, **_: object) -> Any:
        import numpy
        import triton.language as tl
        from triton.runtime.interpreter import TensorHandle, interpreter_semantic

        given = [interpreter_semantic.to_tensor(block) for block in blocks]
        arrays = numpy.broadcast_arrays(*(operand.handle.data for operand in given))
        with torch.no_grad():
            computed = function(*(torch.from_numpy(numpy.ascontiguousarray(array)) for array in arrays))
        # libdevice returns integers for predicates.
        scalar = {torch.bool: tl.int32, torch.int32: tl.int32, torch.int64: tl.int64}.get(computed.dtype)
        scalar = scalar or next(operand.type.scalar for operand in given if operand.type.scalar.is_floating())
        data = computed.numpy().astype(numpy.int32) if computed.dtype is torch.bool else computed.numpy()
        data = data.reshape(arrays[0].shape)
        is_block = any(operand.type.is_block() for operand in given)
        return tl.tensor(TensorHandle(data, scalar), tl.block_type(scalar, list(data.shape)) if is_block else scalar)

    return applied


_FLOATS = {
    "fp8e4nv": "float8_e4m3fn",
    "fp8e5": "float8_e5m2",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
}
"""torch's dtypes by Triton's names."""


def _converted(before: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that rounds to the nearest as torch does. Triton's own loses the carry, and rounds ties up."""

    def convert(input: Any, input_dtype: Any, output_dtype: Any, rounding_mode: Any) -> Any:
        """Convert numbers between floating-point types as torch does, if both types are torch's.

        Args:
            input: an array with the bits of the numbers.
            input_dtype: Triton's type of the input.
            output_dtype: Triton's type of the result.
            rounding_mode: Triton's rounding mode; None for the nearest.
        """
        import numpy

        names = (_FLOATS.get(dtype.name, "") for dtype in (input_dtype, output_dtype))
        source, target = (getattr(torch, name, None) for name in names)
        is_nearest = rounding_mode is None or getattr(rounding_mode, "name", "") == "RTNE"
        if source is None or target is None or not is_nearest or not input.size:
            return before(input, input_dtype, output_dtype, rounding_mode)
        values = torch.frombuffer(bytearray(input.tobytes()), dtype=source).to(target)
        stored = values.view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[values.element_size()])
        return stored.numpy().view(getattr(numpy, f"uint{8 * values.element_size()}")).reshape(input.shape)

    return convert


_PATCHED: set[int] = set()


def _called(self: Any, *args: object, **kwargs: object) -> Any:
    """Call a function inside a kernel. Triton's own way patches the language at every call, which is slow."""
    from triton.runtime import interpreter

    core = next((member for member in self.fn.__globals__.values() if member is interpreter.tl.core), None)
    if core is not None and id(core) not in _PATCHED:
        _PATCHED.add(id(core))
        interpreter._patch_lang(self.fn)
    return self.rewrite()(*args, **kwargs)


def _reduced(self: Any, given: tuple[Any, ...]) -> list[Any]:
    """Reduce blocks by pairs of neighbours, as a GPU does. Triton's interpreter reduces one element at a time."""
    import numpy

    blocks, axis = self.unravel(given, self.axis)
    arrays = [block.handle.data for block in blocks]
    while arrays[0].shape[axis] > 1:
        sides = [[array.take(range(side, array.shape[axis], 2), axis) for array in arrays] for side in (0, 1)]
        arrays = _combined(self, blocks, *sides)
    if self.keep_dims and self.axis is None:
        arrays = [array.reshape((1,) * given[0].handle.data.ndim) for array in arrays]
    elif not self.keep_dims:
        arrays = [numpy.squeeze(array, axis) for array in arrays]
    return [self.to_tensor(array, block.dtype) for array, block in zip(arrays, blocks)]


def _scanned(self: Any, given: tuple[Any, ...]) -> list[Any]:
    """Scan blocks in steps of doubled width (Hillis and Steele 1986)."""
    import numpy

    arrays, axis, width = [block.handle.data for block in given], self.axis, 1
    while width < arrays[0].shape[axis]:
        # A block has a power of two of elements. Those without a predecessor are combined too, and restored.
        scanned = _combined(self, given, [numpy.roll(array, width, axis) for array in arrays], arrays)
        for new, array in zip(scanned, arrays):
            head = (slice(None),) * axis + (slice(width),)
            new[head] = array[head]
        arrays, width = scanned, width * 2
    return [self.to_tensor(array, block.dtype) for array, block in zip(arrays, given)]


def _combined(self: Any, blocks: tuple[Any, ...], left: list[Any], right: list[Any]) -> list[Any]:
    """Return two halves of blocks combined by the function of a reduction."""
    sides = [self.to_tensor(array, block.dtype) for side in (left, right) for array, block in zip(side, blocks)]
    combined = self.combine_fn.rewrite()(*sides)
    combined = combined if isinstance(combined, tuple) else (combined,)
    return [block.handle.data.astype(old.dtype).reshape(old.shape) for block, old in zip(combined, left)]
