"""Looks into the caches of kernels, which torch's trace does not record: a live capture hears of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

import depyf
from depyf.findings.cache_misses.causes import cause
from depyf.findings.cache_misses.key import read_record
from depyf.findings.cache_misses.looks import looks
from depyf.model.index_reader import read_run
from depyf.model.run import Unavailable
from depyf.torch.adapters import lacking
from depyf.torch.adapters.kernel_caches.cpp import watch_libraries
from depyf.torch.adapters.kernel_caches.look import KernelLook
from depyf.torch.adapters.kernel_caches.triton import watch_binaries
from depyf.torch.adapters.kernel_caches.tuning import watch_tuning
from depyf.torch.adapters.kernel_caches.watch import KernelCaches
from depyf.torch.capture.fresh import forget, fresh_caches
from depyf.torch.capture.own_records import record_of
from tests.torch.needs import needs

AUTOTUNING = "torch._inductor.runtime.autotune_cache"
ONE = 'extern "C" int one() { return 1; }'


@pytest.fixture(autouse=True)
def _without_headers() -> Iterator[None]:
    """Have Inductor compile no headers ahead: each private folder would have its own, for ten seconds."""
    from torch._inductor import config

    name = "cpp_cache_precompile_headers"
    with config.patch({name: False} if name in config._config else {}):
        yield


@pytest.fixture
def heard(tmp_path: Path) -> Iterator[list[KernelLook]]:
    for name in ("torch._inductor.codecache", AUTOTUNING):
        pytest.importorskip(name, reason="this torch has no such cache")
    kernel_looks: list[KernelLook] = []
    caches = KernelCaches(lambda read_look: kernel_looks.append(read_look()))
    with fresh_caches(tmp_path):
        caches.look_for_modules()
        yield kernel_looks
        caches.end()


def library(source: str, **options: object) -> object:
    from torch._inductor.codecache import CppCodeCache

    forget()
    try:
        return CppCodeCache.load(source, **options)
    except TypeError as error:
        if options and "unexpected keyword argument" in str(error):
            pytest.skip("this torch compiles C++ without flags of the caller")
        raise


def test_a_library_is_compiled_once_and_found_then(heard: list[KernelLook]) -> None:
    library(ONE)
    assert library(ONE).one() == 1  # type: ignore[attr-defined]
    assert [(look.cache, look.is_hit) for look in heard] == [("cpp", False), ("cpp", True)]
    assert heard[0].key == heard[1].key
    assert heard[0].seconds > 0


@pytest.mark.parametrize(
    ("source", "flags", "kind", "word"),
    [(ONE.replace("1", "2"), (), "C++ source", "return 2"), (ONE, ("-DOTHER",), "compiler flag", "-DOTHER")],
)
def test_what_differs_is_the_cause(
    heard: list[KernelLook], source: str, flags: tuple[str, ...], kind: str, word: str
) -> None:
    library(ONE)
    library(source, extra_flags=flags)
    before, after = (read_record(record_of(look)[1]) for look in heard)
    difference = cause(before, after)
    assert not heard[1].is_hit
    assert difference is not None and difference.kind == kind and word in difference.text


def test_a_library_that_does_not_compile_is_a_miss_and_its_error_goes_on(heard: list[KernelLook]) -> None:
    with pytest.raises(Exception, match="(?i)compil"):
        library("no C++")
    assert [look.is_hit for look in heard] == [False]


def test_torch_is_left_as_it_was() -> None:
    from torch._inductor import codecache
    autotune_cache = pytest.importorskip(AUTOTUNING, reason="this torch has no such cache")
    before = dict(vars(codecache.CppCodeCache)), codecache.write, dict(vars(autotune_cache.AutotuneCache))
    caches = KernelCaches(lambda read_look: None)
    caches.look_for_modules()
    assert vars(codecache.CppCodeCache)["load_async"] is not before[0]["load_async"]
    caches.end()
    assert (dict(vars(codecache.CppCodeCache)), codecache.write, dict(vars(autotune_cache.AutotuneCache))) == before


@pytest.mark.parametrize("watch", [watch_libraries, watch_binaries, watch_tuning])
def test_a_torch_without_the_cache_is_said(watch: Callable[..., object]) -> None:
    assert isinstance(watch(ModuleType("empty"), lambda read_look: None), Unavailable)


@needs(lacking.structured_trace())
def test_a_dump_tells_of_its_libraries(tmp_path: Path) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.sin() * 2

    for name in ("cold", "warm"):
        with fresh_caches(tmp_path / "caches"), depyf.prepare_debug(str(tmp_path / name)):
            torch.compile(function)(torch.ones(4))
    look_lists = [
        [look for look in looks(read_run(tmp_path / name)) if look.event.cache == "cpp"] for name in ("cold", "warm")
    ]
    cold, warm = look_lists
    assert [look.event.outcome for look in cold] == ["miss"]
    assert [look.event.outcome for look in warm] == ["hit"]
    assert warm[0].seconds > 0


def test_triton_tells_of_its_binaries(heard: list[KernelLook]) -> None:
    triton = pytest.importorskip("triton")
    if isinstance(watch_binaries(triton, lambda read_look: None), Unavailable):
        pytest.skip("this Triton does not report its compiles")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from corpus.cache_misses.triton_kernels import kernel

    signature = {"x": "*fp32", "n": "i32", "BLOCK": "constexpr", "DOUBLE": "constexpr"}
    caches = KernelCaches(lambda read_look: heard.append(read_look()))
    assert "triton" in sys.modules
    caches.look_for_modules()
    for block in (64, 64, 128):
        values = {"BLOCK": block, "DOUBLE": False}
        source = ASTSource(fn=kernel(), signature=signature, constexprs=values)
        triton.compile(source, target=GPUTarget("cuda", 80, 32))
    caches.end()
    assert [look.is_hit for look in heard] == [False, True, False]
    difference = cause(*(read_record(record_of(look)[1]) for look in heard[1:]))
    assert difference is not None and difference.text == "Triton constant: `BLOCK`: 64 became 128"
