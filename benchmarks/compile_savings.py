"""Are savings of compile time what depyf predicts?

    python -m benchmarks.compile_savings [--only TEXT] [--results FILE] [--wall]

Each program is run by the engine of `depyf fix --compile-time`: as it is, without any compile, and with each edit. The
clock is the time of the processor, of the process and of its compilers, unless `--wall` is given: other work on the
machine does not change it. With a file of results, programs that it has are not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bar import Bar, report
from depyf.fix.savings import DIFFERS, REFUSED, SavingsSearch
from depyf.fix.savings_told import data
from depyf.fix.tries import Program, Tries

ROOT = Path(__file__).resolve().parents[1]
NEAR, LEAST_NEAR = 0.2, 16 / 20
FASTER, LEAST_FASTER = 1.8, 0.5
CALLS = 5
OF_MODEL = """\
import torch

from corpus import repeated_blocks

torch.set_num_threads(1)
model, arguments = {make}
compiled = torch.compile(model, backend={backend!r})
for _ in range({calls}):
    result = compiled(**arguments{more})
    tensor = result if isinstance(result, torch.Tensor) else result[0]
    tensor.sum().backward()
"""
LAYERS = 16
SEQUENCES = {
    "perceptron": "lambda: repeated_blocks.Residual(16, 32)",
    "encoder": "lambda: torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0)",
    "residual network": "lambda: repeated_blocks.Convolution(4)",
}
SHAPES = {"perceptron": (4, 16), "encoder": (2, 4, 16), "residual network": (1, 4, 8, 8)}
HEADS = {"hidden_size": 32, "num_hidden_layers": LAYERS, "num_attention_heads": 2, "intermediate_size": 64}
GPT2 = {"n_layer": LAYERS, "n_embd": 32, "n_head": 2, "n_positions": 64}
TRANSFORMERS: dict[str, tuple[str, str, dict[str, int]]] = {
    "bert": ("BertConfig", "BertModel", HEADS),
    "roberta": ("RobertaConfig", "RobertaModel", HEADS),
    "electra": ("ElectraConfig", "ElectraModel", HEADS | {"embedding_size": 32}),
    "gpt2": ("GPT2Config", "GPT2LMHeadModel", GPT2),
    "llama": ("LlamaConfig", "LlamaForCausalLM", HEADS),
    "gpt-neox": ("GPTNeoXConfig", "GPTNeoXForCausalLM", HEADS),
    "qwen2": ("Qwen2Config", "Qwen2ForCausalLM", HEADS | {"num_key_value_heads": 2}),
    "mistral": ("MistralConfig", "MistralForCausalLM", HEADS | {"num_key_value_heads": 2}),
}
OF_SIZES = """\
import torch


@torch.compile(backend={backend!r})
def program(x):
    for _ in range(60):
        x = torch.sin(x) + torch.cos(x).mean()
    return x


torch.set_num_threads(1)
for size in (3, 4, 5, 6, 7):
    program(torch.ones(size, 4))
"""
OF_SWITCH = """\
import torch
import torch._inductor.config

torch._inductor.config.force_disable_caches = True


@torch.compile
def program(x, w):
    for _ in range(3):
        x = torch.sin(x @ w) + torch.cos(x).mean()
    return x


torch.set_num_threads(1)
for _ in range({calls}):
    program(torch.ones(8, 8), torch.ones(8, 8))
"""


@dataclass(frozen=True)
class Case:
    """A program. `can_save` tells whether it has equal blocks, or a cache that it switches off itself."""

    name: str
    text: str
    can_save: bool = True


def _of_model(name: str, backend: str, more: str = "", layers: int = LAYERS) -> Case:
    if name in SEQUENCES:
        make = f"repeated_blocks._sequence(*[{SEQUENCES[name]}] * {layers}, shape={SHAPES[name]})()"
    else:
        config, model, settings = TRANSFORMERS[name]
        make = f"repeated_blocks._transformer({config!r}, {model!r}, **{settings})()"
    text = OF_MODEL.format(make=make, backend=backend, calls=CALLS, more=more)
    return Case(f"{name}, {backend}", text)


WITHOUT_CACHE = ", use_cache=False"
OF_INDUCTOR = 8
"""Layers of a model for Inductor."""
CASES = (
    *(_of_model(name, "aot_eager") for name in ("perceptron", "encoder", "bert", "residual network")),
    *(_of_model(name, "eager") for name in ("encoder", "bert")),
    Case("sizes, aot_eager", OF_SIZES.format(backend="aot_eager"), can_save=False),
    *(_of_model(name, "aot_eager", WITHOUT_CACHE) for name in ("gpt2", "llama")),
    Case("sizes, eager", OF_SIZES.format(backend="eager"), can_save=False),
    _of_model("perceptron", "inductor", layers=OF_INDUCTOR),
    *(_of_model(name, "eager") for name in ("perceptron", "electra")),
    *(_of_model(name, "eager", WITHOUT_CACHE) for name in ("qwen2", "gpt2")),
    *(_of_model(name, "aot_eager", WITHOUT_CACHE) for name in ("gpt-neox", "mistral")),
    _of_model("residual network", "inductor", layers=OF_INDUCTOR),
    _of_model("roberta", "aot_eager"),
    Case("a cache that is off", OF_SWITCH.format(calls=CALLS)),
)


def tried(case: Case, scratch: Path, smallest: dict[Any, Any], *, by_processor: bool) -> dict[str, Any]:
    """Return what `depyf fix --compile-time` finds for a program, as JSON."""
    folder = scratch / case.name.replace(", ", "_").replace(" ", "_")
    folder.mkdir()
    script = folder / "program.py"
    script.write_text(case.text, encoding="utf-8")
    tries = Tries(Program(str(script), (), False, folder, 50, False, 3600.0), folder / "tries")
    search = SavingsSearch(tries, 20, 36000.0, lambda text: None, by_processor=by_processor)
    search.smallest = smallest
    result = search.search()
    tries.forget()
    return data(result, "")


def _said(name: str, result: Mapping[str, Any]) -> str:
    plain, parts = result["plain"], []
    for saving in result["tried"]:
        if saving["measured_seconds"] is not None:
            run_of_saving = saving["run"]
            times = f"predicted {saving['predicted_seconds']:.2f} s, measured {saving['measured_seconds']:.2f} s"
            cold = f"cold start {plain['cold_start_seconds']} -> {run_of_saving['cold_start_seconds']} s"
            parts.append(f"{saving['edit']}: {times} of {plain['compile_seconds']:.2f} s, {cold}; {saving['results']}")
        else:
            parts.append(f"{saving['edit']}: {saving['results']}")
    return f"{name}: {'; '.join(parts) or result['ended'] or 'no edit'}"


def _first(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the first advice of a program: the largest predicted saving that could be tried."""
    run = [saving for saving in result["tried"] if saving["state"] != REFUSED]
    return max(run, key=lambda saving: float(saving["predicted_seconds"]), default=None)


def bars(results: Mapping[str, Mapping[str, Any]]) -> list[Bar]:
    """Return the bars for the results of programs, by name."""
    firsts = {name: first for name, result in results.items() if (first := _first(result)) is not None}
    far = [
        f"{name}: predicted {saving['predicted_seconds']:.2f} s, measured {saving['measured_seconds']} s"
        for name, saving in firsts.items()
        if saving["measured_seconds"] is None or not _is_near(saving["predicted_seconds"], saving["measured_seconds"])
    ]
    near = len(results) - len(far) - len(results.keys() - firsts.keys())
    differ = [name for name, saving in firsts.items() if saving["state"] == DIFFERS]
    savable = [case.name for case in CASES if case.can_save and case.name in results]
    ratios = {name: _ratios(results[name], firsts.get(name)) for name in savable}
    slow = [
        f"{name}: {cold:.2f}, compiles {compiles:.2f}" for name, (cold, compiles) in ratios.items() if cold < FASTER
    ]
    fast = len(ratios) - len(slow)
    fast_compiles = sum(compiles >= FASTER for _, compiles in ratios.values())
    enough = LEAST_FASTER * len(ratios)
    near_enough, cold, compiled = (
        f"{near} of {len(results)}",
        f"{fast} of {len(ratios)}",
        f"{fast_compiles} of {len(ratios)}",
    )
    return [
        Bar("predicted savings within 20 % of the measured", near_enough, near >= LEAST_NEAR * len(results), far),
        Bar("cold starts that the first advice makes at least 1.8 times faster", cold, fast >= enough, slow),
        Bar("compiles that the first advice makes at least 1.8 times faster", compiled, fast_compiles >= enough),
        Bar("first advices after which a result differs", f"{len(differ)} of {len(firsts)}", not differ, differ),
    ]


def _is_near(predicted: float, measured: float) -> bool:
    return abs(predicted - measured) <= NEAR * abs(measured)


def _ratios(result: Mapping[str, Any], first: Mapping[str, Any] | None) -> tuple[float, float]:
    """Return how much faster the cold start becomes, and how much faster the compiles.

    For a second start the cold start of the first is no measure, so that both are the ratio of the compiles.
    """
    if first is None or first["run"] is None or first["state"] == DIFFERS:
        return 1.0, 1.0
    after = float(first["run"]["compile_seconds"])
    compiles = (after + float(first["measured_seconds"])) / after if after else float("inf")
    if first["second_start"]:
        return compiles, compiles
    return float(result["plain"]["cold_start_seconds"]) / float(first["run"]["cold_start_seconds"]), compiles


def main() -> None:
    """Run the programs, and print a line for each and the bars."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="only programs with TEXT in their name")
    parser.add_argument("--results", type=Path, help="a file of results that is read and extended")
    parser.add_argument("--wall", action="store_true", help="measure the time that passes")
    options = parser.parse_args()
    known: dict[str, dict[str, Any]] = {}
    if options.results is not None and options.results.is_file():
        known = json.loads(options.results.read_text("utf-8"))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    smallest: dict[Any, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for case in (case for case in CASES if options.only in case.name):
            if case.name not in known:
                known[case.name] = tried(case, Path(scratch), smallest, by_processor=not options.wall)
            print(_said(case.name, known[case.name]), flush=True)
            if options.results is not None:
                options.results.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    report(bars({case.name: known[case.name] for case in CASES if case.name in known}))


if __name__ == "__main__":
    main()
