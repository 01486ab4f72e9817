"""The composite action: its steps run as shell on two commits of a sample project."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml", reason="the action is YAML")
pytest.importorskip("torch", reason="the sample project compiles with torch")
if shutil.which("bash") is None or shutil.which("git") is None:
    pytest.skip("the steps need bash and git", allow_module_level=True)

ROOT = Path(__file__).resolve().parent.parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
RUN = "Run head and base"
CLEAN = """\
import sys
import torch

@torch.compile(backend="eager")
def step(x):
    x = torch.relu(x)
    return x * 2

step(torch.ones(3))
print("arguments", sys.argv[1:])
"""
BROKEN = CLEAN.replace("    return", "    print('seen')\n    return")
CONTRACT = """\
import pytest
from train import step
import torch

@pytest.mark.compiles(breaks=0)
def test_step():
    step(torch.ones(4))
"""
GH = """\
#!/usr/bin/env python3
import json, os, sys
log = os.environ["GH_LOG"]
calls = json.load(open(log)) if os.path.exists(log) else []
body = next((part.partition("@")[2] for part in sys.argv if part.startswith("body=@")), "")
calls.append({"arguments": sys.argv[1:], "body": open(body).read() if body else ""})
json.dump(calls, open(log, "w"))
if "--jq" in sys.argv and any("POST" in call["arguments"] for call in calls):
    print(41)
    print(42)
"""


@dataclass
class Job:
    """A job on GitHub, as far as the action uses it."""

    project: Path
    temporary: Path
    inputs: dict[str, str]
    pull_request: dict[str, str]
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    summary: str = ""
    skipped: list[str] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        defaults = {name: str(definition.get("default", "")) for name, definition in ACTION["inputs"].items()}
        unknown = set(self.inputs) - set(defaults)
        assert not unknown, unknown
        self.inputs = {name: self.text(value) for name, value in (defaults | self.inputs).items()}

    def value(self, expression: str) -> str:
        """Return the value of an expression without operators."""
        path = expression.strip().split(".")
        match path:
            case ["inputs", name]:
                return self.inputs[name]
            case ["steps", step, "outputs", name]:
                return self.outputs.get(step, {}).get(name, "")
            case ["github", "event", "pull_request", "number"]:
                return self.pull_request.get("number", "")
            case ["github", "event", "pull_request", "base", "sha"]:
                return self.pull_request.get("base", "")
        known = {
            "github.action_path": str(ROOT),
            "github.repository": "owner/name",
            "github.token": "secret",
            "runner.temp": str(self.temporary),
        }
        return known[expression.strip()]

    def text(self, text: str) -> str:
        """Return a text with its expressions replaced."""
        return re.sub(r"\$\{\{(.*?)\}\}", lambda match: self.value(match[1]), str(text))

    def holds(self, condition: str | None) -> bool:
        """Return whether a condition holds: equalities, joined by `&&`."""
        for part in (condition or "").split("&&") if condition else ():
            left, operator, right = re.fullmatch(r"\s*(\S+) (==|!=) '(.*)'\s*", part).groups()  # type: ignore[union-attr]
            if (self.value(left) == right) != (operator == "=="):
                return False
        return True

    def run(self, *, after: str = "", until: str = "") -> int:
        """Run the steps after one and until another, by default all; return the exit code of one that fails, or 0."""
        names = [step["name"] for step in ACTION["runs"]["steps"]]
        begin, end = names.index(after) + 1 if after else 0, names.index(until) + 1 if until else None
        for step in ACTION["runs"]["steps"][begin:end]:
            if not self.holds(step.get("if")):
                self.skipped.append(step["name"])
            elif "run" in step:
                code = self._run(step)
                self.codes[step["name"]] = code
                if code:
                    return code
        return 0

    def _run(self, step: dict[str, Any]) -> int:
        output, summary = self.temporary / "output", self.temporary / "summary"
        output.write_text("", encoding="utf-8")
        environment = {
            **os.environ,
            **{name: self.text(value) for name, value in step.get("env", {}).items()},
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GH_LOG": str(self.temporary / "gh.json"),
            "PATH": os.pathsep.join([str(self.temporary / "bin"), os.environ["PATH"]]),
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.project / self.text(step.get("working-directory", ".")),
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        outputs = dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines())
        self.outputs.setdefault(step.get("id", step["name"]), {}).update(outputs)
        self.summary = summary.read_text(encoding="utf-8") if summary.exists() else ""
        print(done.stdout, done.stderr)
        return done.returncode

    @property
    def gh(self) -> list[dict[str, Any]]:
        """The calls of `gh`."""
        path = self.temporary / "gh.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def _git(project: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, cwd=project, check=True, capture_output=True, text=True).stdout.strip()


def job_on(folder: Path, first: str, second: str, **inputs: str) -> Job:
    """Return a job on a project of two commits: `base` has the first text, head the second.

    Args:
        folder: where the project is made.
        first: the program of the base.
        second: the program of the head.
        inputs: the inputs of the action, with `_` for `-`.
    """
    project, temporary = folder / "project", folder / "runner temp"
    (temporary / "bin").mkdir(parents=True)
    (temporary / "bin" / "gh").write_text(GH, encoding="utf-8")
    (temporary / "bin" / "gh").chmod(0o755)
    (project / "sub").mkdir(parents=True)
    _git(project, "init", "--quiet")
    (project / "sub" / "test_contract.py").write_text(CONTRACT, encoding="utf-8")
    commits = []
    for text in (first, second):
        (project / "sub" / "train.py").write_text(text, encoding="utf-8")
        _git(project, "add", "--all")
        _git(project, "commit", "--quiet", "--allow-empty", "--message", "a commit")
        commits.append(_git(project, "rev-parse", "HEAD"))
    given = {"install": "false", "python": sys.executable, "working-directory": "sub"} | {
        name.replace("_", "-"): value for name, value in inputs.items()
    }
    return Job(project, temporary, given, {"number": "7", "base": commits[0]})


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., Job]:
    """Return a function that makes a job in the folder of the test."""
    return functools.partial(job_on, tmp_path)


@pytest.fixture(scope="module")
def both_ran(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Return a job on a program that breaks in its head, after its step `RUN`."""
    action_job = job_on(tmp_path_factory.mktemp("job"), CLEAN, BROKEN, script="train.py", arguments="first\na b")
    assert action_job.run(until=RUN) == 0
    return action_job


def going_on(ran: Job, **inputs: str) -> Job:
    """Return a job that goes on after its step `RUN`, which asks for no other input."""
    for name in ("summary", "gh.json"):
        (ran.temporary / name).unlink(missing_ok=True)
    given = ran.inputs | {name.replace("_", "-"): value for name, value in inputs.items()}
    outputs, codes = {"run": dict(ran.outputs["run"])}, {RUN: ran.codes[RUN]}
    return replace(ran, inputs=given, outputs=outputs, summary="", skipped=[], codes=codes)


def _schema() -> Any:
    return json.loads((ROOT / "tests" / "cli" / "sarif.schema.json").read_text(encoding="utf-8"))


def test_a_new_graph_break_is_commented_and_fails(both_ran: Job) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="SARIF is checked with its schema")
    action_job = going_on(both_ran)
    assert action_job.run(after=RUN) == 1
    assert action_job.codes == {
        RUN: 0,
        "Compare": 0,
        "Comment on the pull request": 0,
        "Fail on new findings": 1,
    }
    assert action_job.outputs["run"] == {"head": "0", "base": "0"}
    comment = Path(action_job.outputs["compare"]["comment"]).read_text(encoding="utf-8")
    assert comment.startswith("<!-- depyf -->\n### depyf: ")
    assert "**New findings**" in comment and "train.py:7" in comment
    assert comment == action_job.summary
    sarif = json.loads(Path(action_job.outputs["compare"]["sarif"]).read_text(encoding="utf-8"))
    jsonschema.validate(sarif, _schema())
    (result,) = [result for run in sarif["runs"] for result in run["results"] if result["level"] != "note"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 7
    asked, posted = action_job.gh
    assert "repos/owner/name/issues/7/comments" in asked["arguments"]
    assert "POST" in posted["arguments"] and posted["body"] == comment
    # The worktree of the base is gone.
    assert len(_git(action_job.project, "worktree", "list").splitlines()) == 1


@pytest.mark.slow
def test_the_second_run_updates_the_comment(both_ran: Job) -> None:
    action_job = going_on(both_ran)
    action_job.run(after=RUN)
    action_job.run()
    assert [("PATCH" in call["arguments"], "POST" in call["arguments"]) for call in action_job.gh] == [
        (False, False),
        (False, True),
        (False, False),
        (True, False),
    ]
    assert "repos/owner/name/issues/comments/41" in action_job.gh[-1]["arguments"]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second", "code"), [(BROKEN, BROKEN, 0), (CLEAN, "raise SystemExit(4)\n", 1)])
def test_exit_codes(job: Any, first: str, second: str, code: int) -> None:
    action_job: Job = job(first, second, script="train.py", comment="false")
    assert action_job.run() == code
    assert "Comment on the pull request" in action_job.skipped and not action_job.gh


@pytest.mark.parametrize("inputs", [{"allow": "5"}, {"fail_on": "never"}])
def test_new_findings_may_be_allowed(both_ran: Job, inputs: dict[str, str]) -> None:
    action_job = going_on(both_ran, comment="false", **inputs)
    assert action_job.run(after=RUN) == 0
    assert "Comment on the pull request" in action_job.skipped and not action_job.gh


@pytest.mark.slow
def test_contract_tests_run_on_both_commits(job: Any) -> None:
    action_job: Job = job(CLEAN, BROKEN, tests="test_contract.py", comment="false")
    assert action_job.run() == 1
    assert action_job.outputs["run"] == {"head": "1", "base": "0"}
    assert "ended with exit code 1" in action_job.summary


def test_without_a_script_the_action_says_what_to_set(job: Any, capsys: pytest.CaptureFixture[str]) -> None:
    action_job: Job = job(CLEAN, CLEAN)
    assert action_job.run() == 2
    assert "set the input script or tests" in capsys.readouterr().out


def test_nothing_is_interpolated_into_shell_and_other_actions_are_pinned() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        if "uses" in step:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"])
        else:
            assert step["shell"] == "bash"


def test_it_keeps_to_the_schema_of_actions() -> None:
    pytest.importorskip("check_jsonschema", reason="the check needs check-jsonschema")
    checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions"]
    done = subprocess.run([*checker, str(ROOT / "action.yml")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
