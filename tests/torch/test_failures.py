"""Failures name the part that raised, the whole chain of causes, the user's line, and what helps."""

from __future__ import annotations

import linecache
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.findings import Finding, findings  # noqa: E402
from depyf.model.index_reader import read_run, read_session  # noqa: E402
from depyf.model.status import Status, status_of  # noqa: E402
from depyf.torch.adapters import lacking  # noqa: E402
from depyf.torch.adapters.tracebacks import own_frames_stay  # noqa: E402
from depyf.views.terminal.data import overview  # noqa: E402
from tests.torch.needs import needs  # noqa: E402

HERE = "# here"


Program = Callable[[], object]


def told(path: Path, program: Program, error: type[Exception] | None) -> tuple[Any, tuple[Finding, ...]]:
    """Return the session of a program, which ends with an exception of a class, and its findings."""
    torch._dynamo.reset()
    if error is None:
        with depyf.prepare_debug(path) as session:
            program()
    else:
        with pytest.raises(error), depyf.prepare_debug(path) as session:
            program()
    return session, findings(session)


def line(finding: Finding) -> str:
    assert finding.where is not None
    return linecache.getline(finding.where.file, finding.where.line)


def turbine(graph: Any, _: Any) -> Any:
    """Compile a graph to code that fails for a size of 7."""

    def run(*args: Any) -> Any:
        sizes = [argument.shape[0] for argument in args if isinstance(argument, torch.Tensor)]
        if 7 in sizes:
            try:
                raise KeyError("no kernel for 7")
            except KeyError as error:
                raise RuntimeError("turbine cannot run this size") from error
        return graph.forward(*args)

    return run


def doubled(x: Any) -> Any:
    return x * 2


watched = needs(own_frames_stay())


@watched
def test_code_of_a_backend_that_fails_in_a_call_is_a_failure_of_its_entry(tmp_path: Path) -> None:
    compiled = torch.compile(doubled, backend=turbine, dynamic=True)

    def program() -> None:
        compiled(torch.ones(5))
        for _ in range(2):
            with pytest.raises(RuntimeError, match="turbine"):
                compiled(torch.ones(7))  # here
        compiled(torch.ones(6))

    session, (finding, *_) = told(tmp_path, program, None)
    assert finding.kind == "call-failure" and finding.severity == "high" and HERE in line(finding)
    assert finding.cause.startswith("2 calls of `doubled` failed in the code of the backend `turbine`, for compile ")
    assert "RuntimeError: turbine cannot run this size; caused by KeyError: 'no kernel for 7'" in finding.cause
    ((_, compile_), *_) = session.compiles()
    assert compile_.failure is None and status_of(compile_) is Status.FAILED
    page = (tmp_path / "index.md").read_text()
    (row,) = [row for row in page.splitlines() if row.startswith(f"| [{compile_.id}]")]
    assert re.search(r"\| `turbine`, \d+\.\d\d s \|", row)
    assert "## Calls in which compiled code raised an exception" in page and "caused by KeyError" in page
    read = read_session(tmp_path)
    ((_, again), *_) = read.compiles()
    (failed,) = again.call_failures
    assert (failed.failure.causes, failed.times) == (("KeyError: 'no kernel for 7'",), 2)
    assert findings(read)[0].cause == finding.cause
    (shown, *_) = overview(read_run(tmp_path))
    assert (shown["failed"], shown["backend"]) == ("turbine cannot run this size", "turbine")


@watched
def test_the_traceback_and_the_graph_are_as_without_a_context(tmp_path: Path) -> None:
    compiled = torch.compile(doubled, backend=turbine, dynamic=True)

    def frames() -> list[tuple[str, int | None]]:
        compiled(torch.ones(5))
        try:
            compiled(torch.ones(7))
        except RuntimeError as error:
            return [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
        return []

    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path):
        inside = frames()
    assert inside and inside == frames()
    held = [name for name in vars(sys.modules[__name__]) if name.startswith("__compiled_fn_")]
    assert held
    for name in held:
        graph = vars(sys.modules[__name__])[name]
        inner = graph.__closure__[graph.__code__.co_freevars.index("fn")].cell_contents
        assert not hasattr(inner, "__wrapped__")


@watched
def test_an_operation_that_fails_is_at_its_line_if_the_graph_knows_it(tmp_path: Path) -> None:
    def pick(x: Any, index: Any) -> Any:
        y = x + 1
        return y[index]  # here

    compiled = torch.compile(pick, backend="eager")

    def program() -> None:
        compiled(torch.ones(5), torch.tensor([1]))
        compiled(torch.ones(5), torch.tensor([9]))

    _, (finding, *_) = told(tmp_path, program, IndexError)
    assert "IndexError: index 9 is out of bounds" in finding.cause
    assert HERE in line(finding) or not hasattr(torch.fx.symbolic_trace(torch.nn.ReLU()), "_lineno_map")


def fails_to_compile(graph: Any, _: Any) -> Any:
    raise ValueError("cannot compile this")


def fails_to_run(graph: Any, _: Any) -> Any:
    def run(args: Any) -> Any:
        raise ValueError("cannot run this")

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


@watched
@pytest.mark.parametrize(
    ("compiler", "part"), [(fails_to_compile, "in the compile of its backward"), (fails_to_run, "in its backward")]
)
def test_a_backward_that_fails_is_a_failure_of_its_entry(tmp_path: Path, compiler: Any, part: str) -> None:
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    def forward(graph: Any, _: Any) -> Any:
        return make_boxed_func(graph.forward)

    backend = aot_autograd(fw_compiler=forward, bw_compiler=compiler)
    compiled = torch.compile(lambda x: (x.sin() * 2).sum(), backend=backend)
    tracebacks: list[list[str]] = []

    def program() -> None:
        loss = compiled(torch.ones(3, requires_grad=True))
        try:
            loss.backward()  # here
        except ValueError as error:
            tracebacks.append([frame.name for frame in traceback.extract_tb(error.__traceback__)])

    _, run_findings = told(tmp_path, program, None)
    program()
    assert tracebacks[0] == tracebacks[1]
    (failed, *_) = run_findings
    assert failed.kind == "call-failure" and f"{part}, for compile " in failed.cause and HERE in line(failed)


def test_recomputation_that_stops_early_is_no_failure(tmp_path: Path) -> None:
    from torch.utils.checkpoint import checkpoint

    inner = torch.compile(lambda x: x.sin().cos(), backend="aot_eager")

    def program() -> None:
        x = torch.ones(3, requires_grad=True)
        checkpoint(lambda y: inner(y).exp(), x, use_reentrant=False).sum().backward()

    session, run_findings = told(tmp_path, program, None)
    assert not [finding for finding in run_findings if finding.severity == "high"]
    assert all(not compiled.call_failures for _, compiled in session.compiles())


@pytest.mark.parametrize(
    ("setting", "phase"),
    [
        ("post_grad_custom_post_pass", "Inductor, in a pass after autograd"),
        ("joint_custom_pre_pass", "Inductor, in a pass on the joint graph"),
        ("pre_grad_custom_pass", "Inductor, in a pass before autograd"),
    ],
)
@needs(lacking.structured_trace())
def test_a_pass_of_the_program_that_raises_has_its_phase_and_its_line(tmp_path: Path, setting: str, phase: str) -> None:
    import torch._inductor.config as config

    if not hasattr(config, setting):
        pytest.skip(f"this torch has no {setting}")

    def bad(graph: Any) -> None:
        raise ValueError("the pass failed")  # here

    def program() -> None:
        with config.patch({setting: bad}):
            torch.compile(doubled)(torch.ones(3, requires_grad=True))

    _, (finding, *_) = told(tmp_path, program, Exception)
    assert f"failed in {phase}: " in finding.cause and "the pass failed" in finding.cause and HERE in line(finding)


def test_an_operator_without_a_fake_kernel_is_told_how_to_get_one(tmp_path: Path) -> None:
    library = torch.library.Library("depyf_tests", "FRAGMENT")
    library.define("plus_one(Tensor x) -> Tensor")
    library.impl("plus_one", lambda x: x + 1, "CPU")

    def use(x: Any) -> Any:
        return torch.ops.depyf_tests.plus_one(x)  # here

    compiled = torch.compile(use, backend="eager", fullgraph=True)
    _, (finding, *_) = told(tmp_path, lambda: compiled(torch.ones(2)), Exception)
    assert '`@torch.library.register_fake("depyf_tests::plus_one")`' in finding.fix and HERE in line(finding)

    def fixed() -> Any:
        torch.library.register_fake("depyf_tests::plus_one", torch.empty_like, lib=library)
        return compiled(torch.ones(2))

    _, after = told(tmp_path / "fixed", fixed, None)
    assert after == ()


@pytest.mark.skipif(own_frames_stay() is None, reason="this Python hides the frames of depyf")
def test_where_calls_are_not_watched_the_report_says_so(tmp_path: Path) -> None:
    session, _ = told(tmp_path, lambda: torch.compile(doubled, backend="eager")(torch.ones(2)), None)
    assert "Python before 3.11" in session.unavailable["exceptions of compiled code in calls"]


@watched
def test_a_run_that_ends_with_a_failing_call_says_so_at_its_end(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import torch\n"
        "def backend(graph, _):\n"
        "    def run(*args):\n"
        "        if not args[0].requires_grad:\n"
        "            raise RuntimeError('needs a gradient') from ValueError('as documented')\n"
        "        return graph.forward(*args)\n"
        "    return run\n"
        "def f(x):\n"
        "    return x + 1\n"
        "torch.compile(f, backend=backend)(torch.ones(2))\n"
    )
    command = [sys.executable, "-m", "depyf", "run", "-o", str(tmp_path / "dump"), str(script)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ended.returncode == 1 and "RuntimeError: needs a gradient" in ended.stderr
    told_at_end = ended.stderr[ended.stderr.index("worth a look") :]
    assert "1 call failed in compiled code" in told_at_end
    assert "1 call of `f` failed in the code of the backend `backend`" in told_at_end
    assert "caused by ValueError: as documented (program.py:10)" in told_at_end


def test_a_failure_in_a_library_stands_at_the_users_innermost_traced_line(tmp_path: Path) -> None:
    @torch.library.custom_op("depyf_tests::quartered", mutates_args=())
    def quartered(x: torch.Tensor) -> torch.Tensor:
        return x / 4

    def shifted(x: Any) -> Any:
        return quartered(x + 1) * 3  # here: the operator

    @torch.compile(backend="eager")
    def run(x: Any) -> Any:
        return shifted(x)

    _, (failure, *_) = told(tmp_path, lambda: run(torch.ones(3)), Exception)
    assert "here: the operator" in line(failure)
