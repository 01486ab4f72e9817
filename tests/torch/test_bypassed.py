"""Calls that compiled code does not serve are findings: methods of a compiled module, and calls under a stance."""

from __future__ import annotations

import copy
import linecache
import pickle
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.findings import Finding, findings  # noqa: E402
from depyf.model.bypass import Way  # noqa: E402
from depyf.model.index_reader import read_session  # noqa: E402
from depyf.model.run import Unavailable  # noqa: E402
from depyf.torch.adapters.seams import without_compiling  # noqa: E402
from depyf.torch.adapters.stances import run_eagerly  # noqa: E402
from depyf.torch.adapters.tracebacks import own_frames_stay  # noqa: E402
from depyf.torch.capture.active import HITS  # noqa: E402
from tests.torch.needs import needs  # noqa: E402

has_stances = pytest.mark.skipif(not hasattr(torch.compiler, "set_stance"), reason="torch before 2.6 has no stances")


class Net(torch.nn.Module):
    """A module with methods beside `forward`."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return self.linear(x).relu()

    @torch.no_grad()
    def generate(self, x: Any) -> Any:
        return self.step(self.step(x))

    def step(self, x: Any) -> Any:
        return self(x)

    def loss(self, x: Any) -> Any:
        return self.forward(x).sum()

    def encode(self, x: Any) -> Any:
        return self.linear(x)

    def config(self) -> dict[str, int]:
        return {"size": 4}

    def size(self) -> int:
        return sum(p.numel() for p in self.parameters()) - self.linear.weight.numel()

    def scaled(self, x: Any) -> Any:
        return self.linear.weight.numel() * self.linear.forward(x)


def told(path: Path, program: Callable[[], object]) -> tuple[Any, tuple[Finding, ...]]:
    """Return the session of a program, as the index has it, and its findings."""
    torch._dynamo.reset()
    with depyf.prepare_debug(path) as session:
        program()
    read = read_session(path)
    assert read.bypassed.keys() == {_as_read(finding) for finding in session.bypassed}
    return session, findings(session)


def _as_read(bypassed: Any) -> Any:
    from dataclasses import replace

    from depyf.model.user_source import short_path

    where = bypassed.where
    return bypassed if where is None else replace(bypassed, where=replace(where, filename=short_path(where.filename)))


def line(finding: Finding) -> str:
    assert finding.where is not None
    return linecache.getline(finding.where.file, finding.where.line)


def test_a_method_of_a_compiled_module_is_named_in_an_empty_run(tmp_path: Path) -> None:
    compiled: Any = torch.compile(Net(), backend="eager")

    def program() -> None:
        for _ in range(3):
            compiled.generate(torch.ones(2, 4))  # here
        compiled.config()

    _, (finding,) = told(tmp_path, program)
    assert finding.kind == "bypassed-method" and finding.severity == "high" and "# here" in line(finding)
    assert finding.cause.startswith("3 calls of `compiled.generate` ran eager")
    assert "`Net.generate` calls the module itself" in finding.cause and "module.compile()" in finding.fix
    page = (tmp_path / "index.md").read_text()
    assert "3 calls of `compiled.generate` at " in page and "1 call of `compiled.config` at " in page
    assert "Usual reasons" not in page


def test_the_fix_depends_on_what_the_method_runs(tmp_path: Path) -> None:
    compiled: Any = torch.compile(Net(), backend="eager")

    def program() -> None:
        compiled.loss(torch.ones(2, 4))
        compiled.encode(torch.ones(2, 4))
        compiled.step(torch.ones(2, 4))

    _, run_findings = told(tmp_path, program)
    words = {
        finding.cause.partition("` ran")[0].rpartition(".")[2]: (finding.cause, finding.fix) for finding in run_findings
    }
    assert words.keys() == {"loss", "encode", "step"}
    for method, runs, fix in (
        ("loss", "calls its `forward`", "torch.compile(module.loss)"),
        ("encode", "calls modules in it", "torch.compile(module.encode)"),
        ("step", "calls the module itself", "module.compile()"),
    ):
        assert runs in words[method][0] and fix in words[method][1]


def test_no_compile_in_place_for_a_module_whose_forward_is_of_torch(tmp_path: Path) -> None:
    class Layers(torch.nn.Sequential):
        def predict(self, x: Any) -> Any:
            return self(x).argmax(-1)

    compiled: Any = torch.compile(Layers(torch.nn.Linear(4, 4)), backend="eager")
    _, (found,) = told(tmp_path, lambda: compiled.predict(torch.ones(2, 4)))
    assert "calls the module itself" in found.cause
    assert found.fix == "compile the method as well: `torch.compile(module.predict)`"


def test_healthy_uses_of_a_compiled_module_are_no_findings(tmp_path: Path) -> None:
    module = Net()
    compiled: Any = torch.compile(module, backend="eager")

    @torch.compile(backend="eager")
    def outer(x: Any) -> Any:
        return compiled.generate(x) + compiled.encode(x)

    def program() -> None:
        compiled.train()
        compiled(torch.ones(2, 4))
        outer(torch.ones(2, 4))
        compiled.config()
        [parameter.numel() for parameter in compiled.parameters()]
        compiled.eval().state_dict()
        assert compiled.generate.__self__ is module
        copy.deepcopy(compiled)
        pickle.dumps(module.state_dict())

    session, run_findings = told(tmp_path, program)
    assert not [finding for finding in run_findings if finding.kind.startswith("bypassed")]
    assert {finding.what for finding in session.bypassed} == {"compiled.config"}


def test_a_module_that_is_compiled_in_place_is_no_finding(tmp_path: Path) -> None:
    module: Any = Net()
    module.compile(backend="eager")
    wrapped: Any = torch.compile(module, backend="eager")
    session, run_findings = told(tmp_path, lambda: wrapped.generate(torch.ones(2, 4)))
    assert run_findings == () and not session.bypassed
    assert [function.name for function, _ in session.compiles()]


def test_compilation_that_is_switched_off_is_the_only_reason(tmp_path: Path) -> None:
    def program() -> None:
        with torch._dynamo.config.patch(disable=True), depyf.prepare_debug(tmp_path):
            torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))

    program()
    page = (tmp_path / "index.md").read_text()
    assert "Nothing was compiled while the context was active: it is switched off by `TORCH_COMPILE_DISABLE=1`" in page
    assert "Usual reasons" not in page


@has_stances
def test_calls_under_force_eager_are_counted_with_their_place(tmp_path: Path) -> None:
    compiled: Any = torch.compile(lambda x: x + 1, backend="eager")

    def program() -> None:
        compiled(torch.ones(2))
        with torch.compiler.set_stance("force_eager"):
            for _ in range(3):
                compiled(torch.ones(2))  # here
        compiled(torch.ones(2))

    session, (finding,) = told(tmp_path, program)
    assert finding.cause == "3 calls of `<lambda>` ran eager under the stance `force_eager`"
    assert finding.severity == "low" and finding.cost.eager_calls == 3 and "# here" in line(finding)
    assert not hasattr(torch._dynamo.eval_frame._callback_from_stance, "__wrapped__")
    ((_, compile_),) = session.compiles()
    assert compile_.hits in (2, None)


@has_stances
def test_a_run_under_force_eager_alone_says_so_in_its_note(tmp_path: Path) -> None:
    compiled: Any = torch.compile(lambda x: x + 1, backend="eager")
    with torch.compiler.set_stance("force_eager"):
        told(tmp_path, lambda: compiled(torch.ones(2)))
    assert "1 call of `<lambda>` at " in (tmp_path / "index.md").read_text()


@has_stances
def test_only_those_calls_under_eager_on_recompile_count_that_no_entry_serves(tmp_path: Path) -> None:
    module = Net()
    compiled: Any = torch.compile(module, backend="eager", dynamic=False)

    def program() -> None:
        compiled(torch.ones(2, 4))
        with torch.compiler.set_stance("eager_on_recompile"):
            for size in (2, 2, 3, 2, 3):
                compiled(torch.ones(size, 4))  # here

    session, (finding,) = told(tmp_path, program)
    assert "# here" in line(finding) and "`Net.forward`" in finding.cause
    if HITS in session.unavailable:
        assert finding.cause.startswith("5 calls") and "does not report which" in finding.cause
    else:
        assert finding.cause.startswith("2 calls of `Net.forward` ran eager under the stance `eager_on_recompile`")
        assert finding.severity == "medium"


@has_stances
@needs(own_frames_stay())
def test_a_call_that_fails_on_a_recompile_says_why_and_its_traceback_is_the_same(tmp_path: Path) -> None:
    compiled: Any = torch.compile(lambda x: x + 1, backend="eager", dynamic=False)
    frames: list[list[str]] = []

    def program() -> None:
        compiled(torch.ones(2))
        with torch.compiler.set_stance("fail_on_recompile"):
            compiled(torch.ones(2))
            try:
                compiled(torch.ones(3))  # here
            except RuntimeError as error:
                frames.append([frame.name for frame in traceback.extract_tb(error.__traceback__)])

    _, (finding,) = told(tmp_path, program)
    program()
    assert frames[0] == frames[1]
    assert finding.severity == "high" and "# here" in line(finding)
    assert "1 call of `<lambda>` raised an exception under the stance `fail_on_recompile`" in finding.cause
    if "triggered by" in torch._dynamo.eval_frame._callback_from_stance.__code__.co_consts.__repr__():
        assert "expected 2, actual 3" in finding.cause


@has_stances
def test_stances_of_depyf_are_not_told(tmp_path: Path) -> None:
    compiled: Any = torch.compile(lambda x: x + 1, backend="eager")

    def program() -> None:
        compiled(torch.ones(2))
        with without_compiling():
            compiled(torch.ones(3))
        end = run_eagerly()
        compiled(torch.ones(3))
        assert not isinstance(end, Unavailable)
        end()
        with torch.compiler.set_stance("default"):
            compiled(torch.ones(2))

    session, run_findings = told(tmp_path, program)
    assert run_findings == () and not any(finding.way is Way.STANCE for finding in session.bypassed)


class Tower(torch.nn.Module):
    """A module whose methods use its blocks in several ways."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))
        self.body = torch.nn.Sequential(torch.nn.Linear(4, 4))

    def draws(self) -> list[float]:
        return [0.5 for _ in self.blocks] + [float(number) for number in range(len(self.blocks))]

    def size(self) -> int:
        return sum(parameter.numel() for parameter in self.body.parameters())

    def loop(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return x

    def item(self, x: Any) -> Any:
        return self.blocks[0](x)

    def handed(self, x: Any) -> Any:
        return torch.utils.checkpoint.checkpoint(self.body, x, use_reentrant=False)

    def forwarded(self, x: Any) -> Any:
        return self.body.forward(x)


@pytest.mark.parametrize(
    ("method", "runs"),
    [("draws", False), ("size", False), ("loop", True), ("item", True), ("handed", True), ("forwarded", True)],
)
def test_a_method_runs_parts_only_if_it_calls_them(method: str, runs: bool) -> None:
    from depyf.model.bypass import PARTS, UNKNOWN
    from depyf.torch.capture.bypassed import way_of

    assert way_of(Tower(), getattr(Tower, method)) == (PARTS if runs else UNKNOWN)


def test_a_method_that_only_reads_parameters_runs_no_module(tmp_path: Path) -> None:
    """A model that counts its parameters, as training scripts do for an estimate of the speed."""
    compiled: Any = torch.compile(Net(), backend="eager")

    def program() -> None:
        compiled(torch.ones(2, 4))
        compiled.size()
        compiled.scaled(torch.ones(2, 4))

    _, of_run = told(tmp_path, program)
    assert [finding.cause.partition("`")[2].partition("`")[0] for finding in of_run] == ["compiled.scaled"]
