"""Which texts beside a module of Inductor's tell of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.index_parts import artefact, entry, function, index, write_dump
from depyf.links.documents import MAPPINGS, kernel_sources
from depyf.model.index_reader import read_run

# As seen on an H200 with torch 2.11: a lookup for each kernel, and a table of Triton's kernels.
BETWEEN = ("cpp_cache_miss", "triton_cache_miss", "autotune_cache_hit", "triton_kernel_info")


@pytest.mark.parametrize("looks", [(), *((look,) for look in BETWEEN), BETWEEN])
def test_records_between_a_module_and_its_nodes_do_not_part_them(tmp_path: Path, looks: tuple[str, ...]) -> None:
    artefacts, files = [], {}
    for number, part in enumerate(("forward", "backward")):
        handle = f"cpp_fused_{part}_0:1"
        stages = ["AFTER_POST_GRAD", "kernel", *looks, MAPPINGS]
        texts = ["", f"# {part}", *("{}" for _ in looks), json.dumps({"cppCodeToPost": {handle: [part]}})]
        for stage, text in zip(stages, texts, strict=True):
            file = f"__compiled_fn_1.{stage}.{number}.txt"
            kind = {"kernel": "kernel", "AFTER_POST_GRAD": "graph"}.get(stage, "json")
            artefacts.append(artefact(stage, kind, file, part if stage == "kernel" else ""))
            files[file] = text
    content = index([function("f", "a.py", 1, [entry("0/0", artefacts=artefacts)])], [])
    run = read_run(write_dump(tmp_path, content, files))
    ((_, compiled),) = run.session.compiles()
    kernels_of = {source.part: sorted(source.computed or {}) for source in kernel_sources(run, compiled)}
    assert kernels_of == {part: [f"cpp_fused_{part}_0:1"] for part in ("forward", "backward")}
