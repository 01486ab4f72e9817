"""What is changed between two compiles of a kernel, in C++ and in Triton, and the cause that depyf should name."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch._inductor import config as inductor

from corpus.cache_misses.seeds import Seed, Settings, base, run
from corpus.cache_misses.triton_kernels import kernel, tuned


def _summed(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() * 2).sum(0)


def _libraries() -> Iterator[Seed]:
    ones = torch.ones(40, 30)
    compile_once = run(_summed, ones)
    processor = f"ATEN_CPU_CAPABILITY={'avx2' if torch.backends.cpu.get_cpu_capability() == 'AVX512' else 'default'}"
    yield Seed(
        "processor", "compiler flag", "CPU_CAPABILITY", compile_once, compile_once, variable=processor, cache="cpp"
    )
    yield Seed("compiler", "compiler", "other-g++", compile_once, compile_once, _other_compiler, cache="cpp")
    flags: dict[str, tuple[object, str]] = {
        "cpp.enable_floating_point_contract_flag": ("fast", "-ffp-contract=fast"),
        "cpp.enable_unsafe_math_opt_flag": (True, "unsafe-math-optimizations"),
        "cpp.simdlen": (1, "CPU_CAPABILITY"),
    }
    for name, (value, word) in flags.items():
        if name in inductor._config:
            yield Seed(
                f"flag {name}", "compiler flag", word, compile_once, compile_once, _patched(name, value), cache="cpp"
            )
    others: dict[str, tuple[Any, Any]] = {
        "cos": (lambda x: (x.cos() * 2).sum(0), ones),
        "3.0": (lambda x: (x.sin() * 3).sum(0), ones),
        "double": (_summed, ones.double()),
        "31": (_summed, torch.ones(40, 31)),
    }
    for word, (function, given) in others.items():
        yield Seed(f"C++ {word}", "C++ source", word, compile_once, run(function, given), cache="cpp")


def _patched(name: str, value: object) -> Settings:
    return lambda: inductor.patch({name: value})


@contextlib.contextmanager
def _other_compiler() -> Iterator[None]:
    """Have Inductor use the same compiler under another name."""
    compiler = shutil.which("g++")
    assert compiler is not None
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder, "other-g++")
        other.symlink_to(compiler)
        with inductor.patch({"cpp.cxx": (str(other),)}):
            yield


def _binaries() -> Iterator[Seed]:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    written = kernel()
    types = {"x": "*fp32", "n": "i32", "BLOCK": "constexpr", "DOUBLE": "constexpr"}
    values: dict[str, object] = {"BLOCK": 64, "DOUBLE": False}

    def compiled(
        function: Any = written,
        signature: dict[str, str] = types,
        constants: dict[str, object] = values,
        attrs: Any = None,
        arch: int = 80,
        **options: object,
    ) -> Callable[[], Any]:
        source = ASTSource(fn=function, signature=signature, constexprs=constants, attrs=attrs)
        return lambda: triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)

    def seed(kind: str, word: str, after: Callable[[], Any], settings: Settings = contextlib.nullcontext) -> Seed:
        return Seed(f"{kind} {word}", kind, word, compiled(), after, settings, cache="triton")

    yield seed("Triton constant", "BLOCK", compiled(constants={**values, "BLOCK": 128}))
    yield seed("Triton constant", "DOUBLE", compiled(constants={**values, "DOUBLE": True}))
    yield seed("Triton option", "num_warps", compiled(num_warps=8))
    yield seed("Triton option", "num_stages", compiled(num_stages=2))
    yield seed("Triton argument", "fp16", compiled(signature={**types, "x": "*fp16"}))
    yield seed("Triton argument", "i64", compiled(signature={**types, "n": "i64"}))
    yield seed("Triton property", "`n`", compiled(attrs={(1,): [["tt.divisibility", 16]]}))
    yield seed("Triton target", "arch=90", compiled(arch=90))
    yield seed("Triton kernel", "value - 7", compiled(kernel("value - 5", "value - 7")))
    yield seed("Triton kernel", "a function that the kernel calls", compiled(kernel("value + value", "value * 2")))
    yield seed("Triton global", "SCALE", compiled(kernel("constexpr(2)", "constexpr(3)")))
    variable = "DISABLE_LLVM_OPT"
    yield seed("environment variable", variable, compiled(), lambda: mock.patch.dict("os.environ", {variable: "1"}))


def _tunings() -> Iterator[Seed]:
    ones = torch.ones(3000)
    compile_tuned = tuned(run(base, ones))
    other = tuned(run(lambda x: (x.sin() * 3 + 1).relu(), ones))
    yield Seed("tuned constant", "Triton kernel", "3.0", compile_tuned, other, cache="autotune")
    tag = torch.compiler.config.patch(cache_key_tag="other")
    yield Seed(
        "tuned tag", "torch setting", "cache_key_tag", compile_tuned, compile_tuned, lambda: tag, cache="autotune"
    )
    setting = _patched("max_autotune_pointwise", True)
    yield Seed(
        "tuned setting",
        "Triton kernel",
        "max_autotune_pointwise",
        compile_tuned,
        compile_tuned,
        setting,
        cache="autotune",
    )


def kernel_seeds() -> list[Seed]:
    """Return every seed of a kernel that this machine can have: those of Triton need no GPU."""
    has_triton = find_spec("triton") is not None
    return [*_libraries(), *(_binaries() if has_triton else ()), *(_tunings() if has_triton else ())]
