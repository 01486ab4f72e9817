"""Why a cache of kernels missed, from the parts of the key that a live capture tells."""

from __future__ import annotations

from typing import Any

import pytest

from depyf.findings.cache_misses.causes import cause
from depyf.findings.cache_misses.key import Record, read_record
from depyf.findings.cache_misses.nearest import nearest
from depyf.torch.adapters.kernel_caches.look import CPP, TRITON, KernelLook
from depyf.torch.capture.own_records import record_of

CPP_PARTS = {
    "compiler": "g++",
    "compiler flags": "-D CPU_CAPABILITY_AVX512\n-O3\n-mavx512f",
    "C++ source": 'extern "C" void kernel(const float* in)\n{\n    auto tmp1 = tmp0.sin();\n}',
}
TRITON_PARTS = {
    "Triton source": "def scaled(x, n, BLOCK: tl.constexpr):\n    tl.store(x, tl.load(x) * 2)",
    "Triton global[SCALE]": "2",
    "Triton argument[x]": "*fp32",
    "Triton constant[BLOCK]": "64",
    "Triton property[n]": "[]",
    "Triton option[num_warps]": "4",
    "Triton variable[DISABLE_LLVM_OPT]": "false",
    "Triton target": "cuda:80",
    "Triton version": "3.6.0",
    "Triton dependencies": "abc",
    "configurations": "XBLOCK: 64\nXBLOCK: 128",
    "tuned kernel": "@triton.jit\ndef triton_poi_0(x):\n    pass",
    "cache key tag": "",
}
CHANGES = [
    ("compiler", "clang++", "compiler", "the C++ compiler: g++ became clang++"),
    ("compiler flags", "-D CPU_CAPABILITY_AVX512\n-O2\n-mavx512f", "compiler flag", "`-O3` became `-O2`"),
    ("C++ source", CPP_PARTS["C++ source"].replace("sin", "cos"), "C++ source", "tmp0.cos()"),
    ("C++ source", "#include <cmath>\n" + CPP_PARTS["C++ source"], "C++ source", "`#include <cmath>`"),
    ("Triton source", TRITON_PARTS["Triton source"].replace("* 2", "* 3"), "Triton kernel", "tl.load(x) * 3"),
    ("Triton global[SCALE]", "3", "Triton global", "`SCALE` that the kernel reads: 2 became 3"),
    ("Triton argument[x]", "*fp16", "Triton argument", "`x`: *fp32 became *fp16"),
    ("Triton constant[BLOCK]", "128", "Triton constant", "`BLOCK`: 64 became 128"),
    ("Triton property[n]", "[['tt.divisibility', 16]]", "Triton property", "the known properties of argument `n`"),
    ("Triton option[num_warps]", "8", "Triton option", "`num_warps`: 4 became 8"),
    ("Triton variable[DISABLE_LLVM_OPT]", "true", "environment variable", "`DISABLE_LLVM_OPT`: false became true"),
    ("Triton target", "cuda:90", "Triton target", "cuda:80 became cuda:90"),
    ("Triton version", "3.7.0", "Triton version", "3.6.0 became 3.7.0"),
    ("Triton dependencies", "abd", "Triton kernel", "a function that the kernel calls"),
    ("configurations", "XBLOCK: 64", "configurations", "`XBLOCK: 128` became no such line"),
    ("tuned kernel", "@triton.jit\ndef triton_poi_1(x):\n    return", "Triton kernel", "`pass` became `return`"),
    ("cache key tag", "mine", "torch setting", "cache_key_tag"),
]


def record(cache: str, **parts: str) -> Record:
    return read_record(record_of(KernelLook(cache, False, str(sorted(parts.items())), parts))[1])


@pytest.mark.parametrize(("name", "value", "kind", "words"), CHANGES)
def test_one_part_is_the_cause(name: str, value: str, kind: str, words: str) -> None:
    parts = CPP_PARTS if name in CPP_PARTS else TRITON_PARTS
    miss = cause(record(CPP, **parts), record(CPP, **{**parts, name: value}))
    assert miss is not None
    assert (miss.kind, miss.follows) == (kind, ())
    assert words in miss.text


def test_what_differs_because_of_the_source_follows_from_it() -> None:
    changed = {
        "Triton source": "def scaled(x):\n    pass",
        "Triton constant[BLOCK]": "8",
        "Triton dependencies": "other",
    }
    miss = cause(record(TRITON, **TRITON_PARTS), record(TRITON, **{**TRITON_PARTS, **changed}))
    assert miss is not None and miss.kind == "Triton kernel"
    assert miss.follows == ("`BLOCK`",)


def test_of_a_long_line_only_what_differs_is_shown() -> None:
    line = "inductor_meta={" + ", ".join(f"'setting_{number}': False" for number in range(20)) + "}"
    parts = {"tuned kernel": line}
    after = {"tuned kernel": line.replace("_7': False", "_7': True")}
    miss = cause(record("autotune", **parts), record("autotune", **after))
    assert miss is not None
    assert (miss.before, miss.after) == ("`'setting_7': False`", "`'setting_7': True`")


def test_the_kernel_with_most_lines_in_common_is_the_nearest() -> None:
    other = {**CPP_PARTS, "C++ source": "void kernel()\n{\n    other();\n}"}
    earlier: list[tuple[Any, Record]] = [("sine", record(CPP, **CPP_PARTS)), ("other", record(CPP, **other))]
    wanted = record(CPP, **{**CPP_PARTS, "C++ source": CPP_PARTS["C++ source"].replace("sin", "cos")})
    closest = nearest(wanted, earlier)
    assert closest is not None and closest.place == "sine"


def test_a_record_says_what_a_look_cost_or_saved() -> None:
    for is_hit, name in ((True, "triton_cache_hit"), (False, "triton_cache_miss")):
        metadata, payload = record_of(KernelLook(TRITON, is_hit, "key", TRITON_PARTS, 2.5))
        assert metadata["artifact"]["name"] == name
        assert read_record(payload).seconds == 2.5
        assert {name: part.value for name, part in read_record(payload).parts.items()} == TRITON_PARTS
