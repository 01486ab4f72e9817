"""Hooks and marks without effect are findings: compiled code says nothing about them."""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.findings import Finding, findings  # noqa: E402
from depyf.model.index_reader import read_session  # noqa: E402
from depyf.torch.adapters import lacking  # noqa: E402
from depyf.torch.adapters.module_hooks import are_guarded  # noqa: E402
from tests.torch.needs import needs  # noqa: E402

HERE = "# here"
pytestmark = needs(lacking.guard_trees())


class Net(torch.nn.Module):
    """A module with three modules in it, one of which it does not call."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.unused = torch.nn.Linear(4, 4)
        self.last = torch.nn.Sequential(torch.nn.ReLU())

    def forward(self, x: Any) -> Any:
        return self.last(self.linear(x))


def told(path: Path, program: Callable[[], object]) -> tuple[Finding, ...]:
    """Return the findings of a program."""
    torch._dynamo.reset()
    with depyf.prepare_debug(path) as session:
        program()
    run_findings = findings(session)
    assert [finding.cause for finding in findings(read_session(path))] == [finding.cause for finding in run_findings]
    return run_findings


def line(finding: Finding) -> str:
    assert finding.where is not None
    return linecache.getline(finding.where.file, finding.where.line)


@pytest.mark.skipif(are_guarded(), reason="this torch guards on hooks")
@pytest.mark.parametrize("in_a_closure", [False, True])
def test_hooks_that_compiled_code_ignores_are_told(tmp_path: Path, in_a_closure: bool) -> None:
    module, ran = Net(), []

    def log(*_: Any) -> None:  # here
        ran.append("log")

    def program() -> None:
        compiled: Any = torch.compile((lambda x: module(x)) if in_a_closure else module, backend="aot_eager")
        compiled(torch.ones(2, 4))
        module.linear.register_forward_hook(log)
        module.last[0].register_full_backward_hook(functools.partial(log, 1))
        module.unused.register_forward_hook(log)
        removed = module.last.register_forward_pre_hook(log)
        removed.remove()
        compiled(torch.ones(2, 4)).sum().backward()

    run_findings = told(tmp_path, program)
    assert ran == [] and [finding.kind for finding in run_findings] == ["late-hook"] * 2
    assert all(HERE in line(finding) and finding.severity == "medium" for finding in run_findings)
    name = "module" if in_a_closure else "self"
    assert {finding.cause.partition(":")[0] for finding in run_findings} == {
        f"Compiled code does not run the forward hook `log` of `{name}.linear`",
        f"Compiled code does not run the backward hook `log` of `{name}.last[0]`",
    }


@pytest.mark.skipif(are_guarded(), reason="this torch guards on hooks")
@pytest.mark.parametrize("way", ["early", "guarded"])
def test_the_advice_about_hooks_helps(tmp_path: Path, way: str) -> None:
    module, ran = Net(), []

    def program() -> None:
        compiled: Any = torch.compile(module, backend="eager")
        with torch._dynamo.config.patch(skip_nnmodule_hook_guards=way != "guarded"):
            if way == "guarded":
                compiled(torch.ones(2, 4))
            module.linear.register_forward_hook(lambda *_: ran.append("ran"))
            compiled(torch.ones(2, 4))

    run_findings = told(tmp_path, program)
    assert ran and not [finding for finding in run_findings if finding.kind == "late-hook"]


def test_a_hook_that_runs_is_no_finding(tmp_path: Path) -> None:
    module, ran = Net(), []

    def program() -> None:
        compiled: Any = torch.compile(module, backend="aot_eager")
        compiled(torch.ones(2, 4))
        module.register_forward_hook(lambda *_: None)
        module.linear.weight.register_hook(lambda _: ran.append("parameter"))
        compiled(torch.ones(2, 4)).sum().backward()

    assert not [finding for finding in told(tmp_path, program) if finding.kind == "late-hook"] and ran


@torch.compiler.disable  # here
def disabled(_: Any, __: Any, out: Any) -> Any:
    return out * 2


@pytest.mark.parametrize("inside", [True, False])
def test_a_disabled_hook_has_its_name_and_its_line(tmp_path: Path, inside: bool) -> None:
    module = Net()
    (module.linear if inside else module).register_forward_hook(disabled)
    (finding,) = told(tmp_path, lambda: torch.compile(module, backend="eager")(torch.ones(2, 4)))
    if inside:
        name = finding.cause.partition(" is called")[0]
        assert name.startswith("Graph break: the hook `disabled` (") and "# here" in linecache.getline(
            __file__, int(name.rpartition(":")[2].rstrip(")"))
        )
    else:
        assert finding.cause.startswith("The forward hook `disabled` runs eager beside each call of the code of ")
        assert finding.severity == "low" and HERE in line(finding)


def branching(x: Any) -> Any:
    if x.shape[0] == 6:  # here
        return x + 1
    return x - 1


def marked(size: int) -> None:
    x = torch.ones(size, 3)
    torch._dynamo.maybe_mark_dynamic(x, 0)
    torch.compile(lambda y: branching(y) * 2, backend="eager")(x)


@needs(lacking.marks())
def test_a_mark_that_a_comparison_made_void_is_told_at_the_comparison(tmp_path: Path) -> None:
    (finding,) = told(tmp_path, lambda: marked(6))
    assert finding.kind == "void-mark" and finding.severity == "medium" and HERE in line(finding)
    assert finding.cause.startswith("Dimension 0 of `y` is marked as dynamic, without effect: compile ")
    assert "serves only size 6, because `if x.shape[0] == 6:" in finding.cause


@needs(lacking.marks())
def test_a_mark_on_a_size_of_one_needs_no_change(tmp_path: Path) -> None:
    (finding,) = told(tmp_path, lambda: marked(1))
    assert (finding.kind, finding.severity, finding.fix) == ("void-mark", "low", "")


@needs(lacking.marks())
def test_a_mark_with_effect_is_no_finding(tmp_path: Path) -> None:
    assert told(tmp_path, lambda: marked(5)) == ()
