"""What the end of `depyf run` says of the compiles: what failed or made no code is not proven."""

from __future__ import annotations

from pathlib import Path

import pytest

from depyf.cli.launch.summary import lines, summarised
from depyf.findings import findings
from depyf.model.failure import Failure
from depyf.model.index_json import index_json
from depyf.model.run import Compile, CompileId, Function, Session, Transformed, Unavailable
from depyf.verify.level import Level

CODE = Transformed(1, "", "", Level.EXACT, "", installed=False)
FAILURE = Failure("BackendCompilerFailed", "no such kernel", None)


def compiled(number: int, transformed: Transformed | Unavailable, failure: Failure | None = None) -> Compile:
    return Compile(CompileId(0, number), "f", "f.py", 1, transformed=transformed, failure=failure)


def without_code(number: int) -> Compile:
    return compiled(number, Unavailable("Dynamo made no code"))


@pytest.mark.parametrize(
    ("compiles", "says"),
    [
        ([compiled(0, CODE)], "all proven"),
        ([compiled(0, CODE), without_code(1)], "1 compile ended without code, the others proven"),
        (
            [compiled(0, CODE), without_code(1), compiled(2, Unavailable("failed"), FAILURE)],
            "1 compile failed, 1 compile ended without code, the others proven",
        ),
        ([without_code(0)], "nothing was compiled successfully"),
    ],
)
def test_what_has_no_code_is_not_counted_as_proven(tmp_path: Path, compiles: list[Compile], says: str) -> None:
    session = Session("2.13.0", "3.11.7", functions={"0": Function("0", "f", "f.py", 1, "", "0", compiles=compiles)})
    session.ended = True
    (tmp_path / "index.json").write_text(index_json(session, findings(session)), encoding="utf-8")
    first = lines(summarised(tmp_path, 0), tmp_path, tmp_path)[0]
    assert first.endswith(f" s, {says}")


def test_a_run_that_compiled_nothing_says_so(tmp_path: Path) -> None:
    session = Session("2.13.0", "3.11.7")
    session.ended = True
    (tmp_path / "index.json").write_text(index_json(session, findings(session)), encoding="utf-8")
    second = lines(summarised(tmp_path, 0), tmp_path, tmp_path)[1]
    assert second == "worth a look: nothing was compiled, and index.md has the usual reasons"


def test_a_run_without_anything_to_change_says_so_with_its_numbers(tmp_path: Path) -> None:
    session = Session("2.13.0", "3.11.7", functions={"0": Function("0", "f", "f.py", 1, "", "0")})
    session.functions["0"].compiles.append(compiled(0, CODE))
    session.ended = True
    (tmp_path / "index.json").write_text(index_json(session, findings(session)), encoding="utf-8")
    second = lines(summarised(tmp_path, 0), tmp_path, tmp_path)[1]
    assert second == "nothing needs a change: no graph break, no recompile"


@pytest.mark.parametrize(("condition", "says"), [("x > 0", "1 finding"), ("", "nothing")])
def test_a_finding_that_no_number_counts_is_worth_a_look(tmp_path: Path, condition: str, says: str) -> None:
    source = f"def f(x):\n    {f'if {condition}: return x' if condition else 'return x'}\n"
    function = Function("0", "f", "f.py", 1, source, "0", compiles=[without_code(0)])
    session = Session("2.13.0", "3.11.7", functions={"0": function})
    session.skipped["f", "f.py", "No ops traced for the FX graph"] = 1
    session.ended = True
    (tmp_path / "index.json").write_text(index_json(session, findings(session)), encoding="utf-8")
    second = lines(summarised(tmp_path, 0), tmp_path, tmp_path)[1]
    assert second == f"worth a look: {says}"
