"""Every view says why a function was compiled again in one and the same sentence."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.findings.reasons import reason_words  # noqa: E402
from depyf.model.index_reader import Run, read_run  # noqa: E402
from depyf.model.run import Recompile  # noqa: E402
from depyf.torch.adapters import lacking  # noqa: E402
from depyf.views.embedded import frame  # noqa: E402
from depyf.views.html.chunks import Chunks  # noqa: E402
from depyf.views.html.function_data import shown_entries  # noqa: E402
from depyf.views.html.overview import rows  # noqa: E402
from depyf.views.html.recompiles import recompiled  # noqa: E402
from depyf.views.terminal.data import VIEWS  # noqa: E402
from tests.torch.needs import needs  # noqa: E402

Program = Callable[[], None]
traced = needs(lacking.structured_trace())


def lengths() -> None:
    @torch.compile(backend="eager")
    def step(x: Any, items: list[int]) -> Any:
        return x + 1 if len(items) > 2 else x - 1

    for count in (0, 2, 3):
        step(torch.ones(3), [1] * count)


def condition() -> None:
    @torch.compile(backend="eager", dynamic=True)
    def step(x: Any, other: Any) -> Any:
        return x + 1 if x.shape[0] > 4 else x - other.sum()

    step(torch.ones(3), torch.ones(2))
    step(torch.ones(9), torch.ones(2))


def small_batch() -> None:
    linear = torch.nn.Linear(4, 4)

    @torch.compile(backend="eager", dynamic=True)
    def step(x: Any) -> Any:
        return linear(x)

    step(torch.ones(3, 4))
    step(torch.ones(1, 4))


def in_a_rest() -> None:
    @torch.compile(backend="eager")
    def step(x: Any, mode: str, n: int) -> Any:
        x = x + 1
        torch._dynamo.graph_break()
        if n > 3:
            x = x * 2
        return x.sin() if mode == "a" else x.cos()

    for mode, n in (("a", 2), ("b", 2), ("b", 7)):
        step(torch.ones(3), mode, n)


def counting() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return x * self.calls

    net = torch.compile(Net(), backend="eager")
    for _ in range(4):
        net(torch.ones(3))


@traced
@pytest.mark.parametrize("program", [lengths, condition, small_batch, in_a_rest, counting])
def test_every_view_says_the_same(program: Program, tmp_path: Path) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path):
        program()
    run = read_run(tmp_path)
    compiles = [pair for pair in run.session.compiles() if isinstance(pair[1].trigger, Recompile)]
    assert compiles
    index = (tmp_path / "index.md").read_text()
    table, _, below = index.partition("## Recompiles")
    views = dict(_views(run))
    for function, compiled in compiles:
        root = run.session.functions[function.root]
        said = reason_words(root, function, compiled)
        assert "L[" not in said and "got" not in said and "torch does not say" not in said
        plain = " ".join(said.split())
        assert plain in table and f"refused: {said}" in below
        assert plain in (tmp_path / compiled.transformed.file).read_text()
        for name, texts in views.items():
            assert any(plain in text for text in texts[str(compiled.id)]), name


@traced
def test_the_finding_says_what_the_last_of_its_compiles_says(tmp_path: Path) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path):
        in_a_rest()
    run = read_run(tmp_path)
    findings_data = json.loads((tmp_path / "index.json").read_text())["findings"]
    assert VIEWS["findings"](run) == findings_data
    pairs = {str(compiled.id): (function, compiled) for function, compiled in run.session.compiles()}
    recompiles = [finding for finding in findings_data if "compiled again" in finding["cause"]]
    assert recompiles
    for finding in recompiles:
        function, compiled = pairs[finding["compiles"][-1]]
        said = reason_words(run.session.functions[function.root], function, compiled)
        sentence = finding["cause"].partition(": ")[2]
        for ending in (", and with it", "; in the same calls", "; expected: "):
            sentence = sentence.partition(ending)[0]
        assert sentence in said


def _views(run: Run) -> Iterator[tuple[str, dict[str, list[str]]]]:
    addresses = {key: f"f{number}" for number, key in enumerate(run.families())}
    yield "overview", {row.label: [" ".join(row.detail.split())] for row in rows(run, addresses)}
    yield "recompiles page", {
        str(entry.compile.id): [" ".join(reason.words.split()) for reason in entry.reasons]
        for refused in recompiled(run, addresses)
        for entry in refused.entries
    }
    roots = [(run.session.functions[key], family) for key, family in run.families().items()]
    yield "function page", {
        entry["id"]: [" ".join(entry["why"].split())]
        for root, family in roots
        for entry in shown_entries(run, root, family, Chunks(), root.key)["entries"]
    }
    page = " ".join(re.sub("<[^<>]+>", "", html.unescape(frame(run))).split())
    shown = html.unescape(page).replace("`", "")
    yield "notebook", {
        str(entry.compile.id): [
            " ".join(reason.words.split()) for reason in entry.reasons if reason.cause.replace("`", "") in shown
        ]
        for refused in recompiled(run, addresses)
        for entry in refused.entries
    }
    yield "depyf show", {
        recompile["id"]: [" ".join(reason["text"].split()) for reason in recompile["nearest"]["reasons"]]
        for recompile in VIEWS["recompiles"](run)
    }
