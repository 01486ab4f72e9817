"""Why a cache missed: in what the key of a look differs from the nearest that was there."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.index_parts import artefact, write_dump
from depyf.findings import findings
from depyf.findings.cache_misses.causes import cause
from depyf.findings.cache_misses.key import Record, read_record
from depyf.findings.cache_misses.looks import looks
from depyf.findings.cache_misses.nearest import nearest
from depyf.model.index_reader import read_run
from tests.dump_of_toy import entry, function, index

GRAPH = "GraphModule()\n\n\n\ndef forward(self, arg0_1):\n    {}\n    return (relu,)\n    # To see more debug info"
SIN = "mul = torch.ops.aten.mul.Tensor(arg0_1, 2);  arg0_1 = None"
REDUCE = "all_reduce = torch.ops._c10d_functional.all_reduce.default(sin, 'sum', '0')"
TENSOR = (
    "TensorMetadata(dtype=torch.float32, shape=torch.Size([3]), stride=(1,), device=device(type='cpu'), layout=None)"
)
BASE = {
    "gm": GRAPH.format(SIN),
    "example_inputs[0]": TENSOR,
    "fx_kwargs[is_backward]": "False",
    "inductor_config[max_autotune]": "False",
    "inductor_config[cpp.simdlen]": "None",
    "post_grad_custom_post_pass": "None",
    "deterministic_algorithms_settings": "(False, False, True)",
    "user_defined_triton_source[0]": "@triton.jit\ndef scale(x):\n    BLOCK = 64\n    return x",
    "torch_version": "<bytes>",
}


def payload(key: str, parts: dict[str, str], **fields: Any) -> str:
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in parts.items()}
    components = [f"[{digests[name]}] {name}: {text}" for name, text in parts.items()]
    return json.dumps({"key": key, "components": components, **fields})


def record(**changes: str) -> Record:
    return read_record(payload("k" + str(sorted(changes.items())), {**BASE, **named(changes)}))


def named(changes: dict[str, str]) -> dict[str, str]:
    names = {"inputs": "example_inputs[0]", "autotune": "inductor_config[max_autotune]"}
    names |= {"simdlen": "inductor_config[cpp.simdlen]", "custom": "post_grad_custom_post_pass"}
    names |= {"kernel": "user_defined_triton_source[0]", "side": "fx_kwargs[is_backward]"}
    return {names.get(name, name): value for name, value in changes.items()}


CASES = [
    ({"gm": GRAPH.format(SIN.replace("2)", "3)"))}, "constant", "2 became 3"),
    ({"gm": GRAPH.format(SIN.replace("mul.Tensor", "add.Tensor"))}, "graph", "aten.mul.Tensor"),
    ({"gm": GRAPH.format(SIN + "\n    cos = torch.ops.aten.cos.default(mul)")}, "graph", "aten.cos.default"),
    ({"inputs": TENSOR.replace("float32", "float64")}, "input dtype", "torch.float32 became dtype torch.float64"),
    ({"inputs": TENSOR.replace("Size([3])", "Size([4])")}, "input shape", "Size([3]) became shape torch.Size([4])"),
    ({"inputs": TENSOR.replace("'cpu'", "'cuda', index=1")}, "input device", "index=1"),
    ({"autotune": "True"}, "config", "`max_autotune` (`TORCHINDUCTOR_MAX_AUTOTUNE`): False became True"),
    ({"simdlen": "256"}, "C++ flag", "`cpp.simdlen`: None became 256"),
    ({"custom": "b'v2'"}, "custom pass", "`post_grad_custom_post_pass`: None became b'v2'"),
    ({"deterministic_algorithms_settings": "(True, False, True)"}, "torch setting", "use_deterministic_algorithms"),
    ({"kernel": BASE["user_defined_triton_source[0]"].replace("64", "128")}, "Triton kernel", "`BLOCK = 128`"),
    ({"torch_version": "<other bytes>"}, "torch version", "another build"),
    ({"new_part": "7"}, "other", "`new_part`: nothing became 7"),
]


@pytest.mark.parametrize(("changes", "kind", "words"), CASES, ids=[case[1] + str(n) for n, case in enumerate(CASES)])
def test_one_cause_is_named(changes: dict[str, str], kind: str, words: str) -> None:
    miss = cause(record(), record(**changes))
    assert miss is not None
    assert (miss.kind, miss.follows) == (kind, ())
    assert words in miss.text


def test_equal_keys_have_no_cause() -> None:
    assert cause(record(), record()) is None


def test_the_name_of_a_process_group_is_no_mere_constant() -> None:
    first, other = record(gm=GRAPH.format(REDUCE)), record(gm=GRAPH.format(REDUCE.replace("'0'", "'7'")))
    miss = cause(first, other)
    assert miss is not None
    assert (miss.kind, miss.before, miss.after) == ("process group", "'0'", "'7'")


def test_a_graph_that_differs_with_its_inputs_follows_from_them() -> None:
    changed = {"inputs": TENSOR.replace("float32", "float64"), "gm": GRAPH.format(SIN.replace("mul", "add"))}
    miss = cause(record(), record(**changed))
    assert miss is not None
    assert (miss.kind, miss.follows) == ("input dtype", ("a line of the graph",))


def test_the_nearest_is_of_the_same_direction_and_the_last_of_several() -> None:
    near, far = record(autotune="True"), record(autotune="True", simdlen="8")
    backward = record(side="True")
    nearest_miss = nearest(record(), [("far", far), ("first", near), ("last", near), ("backward", backward)])
    assert nearest_miss is not None
    assert nearest_miss.place == "last"
    assert nearest(record(), [("backward", backward)]) is None
    same = nearest(record(), [("far", far), ("same", record())])
    assert same is not None and (same.place, same.cause) == ("same", None)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"components": ["x", 3]}', '{"components": null, "key": 1}'])
def test_a_damaged_record_has_no_parts(text: str) -> None:
    assert read_record(text).parts == {}


def test_a_component_of_several_lines_is_one() -> None:
    digest = "a" * 30
    entry_data = {"key": "k", "components": [f"[{digest}] gm: one", "two", f"[{digest}] x: 1"]}
    assert read_record(json.dumps(entry_data)).parts["gm"].value == "one\ntwo"


def event(outcome: str, file: str, cache: str = "fx_graph", reason: str = "") -> dict[str, Any]:
    event_data = {"cache": cache, "outcome": outcome, "key": "k", "reason": reason, "seconds_saved": 0.0}
    return event_data | {"file": file}


def test_each_look_of_a_run_is_told_with_its_reason(tmp_path: Path) -> None:
    missed = payload("two", BASE | {"inductor_config[max_autotune]": "True"}, time_taken_ns=2_500_000_000)
    files = {"other/one.json": payload("one", BASE), "other/two.json": missed, "other/hit.json": payload("two", BASE)}
    compiles = [
        entry("0/0", caches=[event("miss", "other/one.json")], artefacts=[artefact("x", "json", "other/one.json")]),
        entry("0/1", caches=[event("miss", "", "aotautograd"), event("miss", "other/two.json")]),
        entry("0/2", caches=[event("hit", "other/hit.json"), event("bypass", "", "aotautograd", "a custom pass")]),
    ]
    write_dump(tmp_path, index([function("toy", compiles)]), files)
    run = read_run(tmp_path)
    first, inferred, second, hit, bypass = looks(run)
    assert first.why.startswith("nothing similar was compiled before")
    assert second.why.startswith("against compile 0/0, config: `max_autotune`")
    assert (inferred.why, inferred.cache) == (second.why, "AOTAutograd cache")
    assert (second.seconds, hit.why) == (2.5, "")
    assert bypass.why == "torch bypassed it: a custom pass"
    finding = next(other for other in findings(run.session) if other.kind == "cache-bypass")
    assert "The AOTAutograd cache was bypassed" in finding.cause
    assert "uuid()" in finding.fix


def test_a_look_is_held_against_the_newest_entries_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far = BASE | {"inductor_config[max_autotune]": "True", "torch_version": "<other>"}
    texts = {"one": BASE, "two": far, "three": BASE | {"inductor_config[cpp.simdlen]": "8"}}
    files = {f"other/{key}.json": payload(key, parts) for key, parts in texts.items()}
    entries = [entry(f"0/{at}", caches=[event("miss", name)]) for at, name in enumerate(files)]
    write_dump(tmp_path, index([function("toy", entries)]), files)
    for held, nearest_one in ((2, "0/0"), (1, "0/1")):
        monkeypatch.setattr("depyf.findings.cache_misses.looks.MOST_HELD", held)
        assert looks(read_run(tmp_path))[-1].why.startswith(f"against compile {nearest_one},")


def test_a_look_is_held_against_another_run_and_the_same_key_is_no_cause(tmp_path: Path) -> None:
    for name, parts in (("old", BASE), ("new", BASE | {"inductor_config[cpp.simdlen]": "8"}), ("same", BASE)):
        compiles = [entry("0/0", caches=[event("miss", "other/one.json")])]
        key = "two" if name == "new" else "one"
        files = {"other/one.json": payload(key, parts, cache_status_detailed="full_miss")}
        write_dump(tmp_path / name, index([function("toy", compiles)]), files)
    old, new, same = (read_run(tmp_path / name) for name in ("old", "new", "same"))
    assert looks(new, [("the old run", old)])[0].why.startswith("against compile 0/0 of the old run, C++ flag: ")
    look = looks(same, [("the old run", old)])[0]
    assert look.cause is None
    assert look.why.startswith("compile 0/0 of the old run has the same key (torch: full miss)")
