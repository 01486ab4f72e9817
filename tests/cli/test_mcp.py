"""`depyf mcp`, called by the client of the official SDK: all tools, and requests that must be refused."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the server needs the package mcp")
pytest.importorskip("torch", reason="the programs compile with torch")

import anyio  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from mcp import Client, MCPError, StdioServerParameters  # noqa: E402

from depyf.cli.commands import depyf  # noqa: E402
from depyf.cli.mcp.confined import Confined, RefusedError  # noqa: E402
from depyf.cli.mcp.process import run  # noqa: E402
from depyf.views.brief.tokens import count  # noqa: E402

PROGRAM = """\
import sys
import torch

@torch.compile(backend="eager", dynamic=False)
def scaled(x, by):
    x = torch.relu(x)
    return x * by

for by in range(2, 2 + int(sys.argv[1])):
    scaled(torch.ones(3), by)
print("done", sys.argv[1])
"""
SLEEPER = """\
import os, time
open("pid", "w").write(str(os.getpid()))
for number in range(600):
    print("step", number, flush=True)
    time.sleep(0.1)
"""
SECRET = "a text that no answer may hold"
HOSTILE = 200


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a working directory with a program, two runs of it, links that leave it, and a secret outside."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text(SECRET, encoding="utf-8")
    (outside / "secret.py").write_text(f"print({SECRET!r})\n", encoding="utf-8")
    root = tmp_path_factory.mktemp("project")
    (root / "train.py").write_text(PROGRAM, encoding="utf-8")
    (root / "sleeper.py").write_text(SLEEPER, encoding="utf-8")
    for name, times in (("dump", "3"), ("one", "1")):
        _depyf_run(root, name, "train.py", times)
    (root / "leak").symlink_to(outside)
    (root / "leak.py").symlink_to(outside / "secret.py")
    (root / "leak.patch").symlink_to(outside / "new.patch")
    _dump_like(root, "linked").joinpath("index.md").symlink_to(outside / "secret.txt")
    crafted = _dump_like(root, "crafted")
    index = json.loads((root / "dump" / "index.json").read_text(encoding="utf-8"))
    index["outside"] = [{**_artefact(index), "file": f"../../{outside.name}/secret.txt"}]
    (crafted / "index.json").write_text(json.dumps(index), encoding="utf-8")
    return root


def _depyf_run(root: Path, name: str, *arguments: str) -> None:
    import subprocess

    command = [sys.executable, "-m", "depyf", "run", "-o", name, "--no-html", *arguments]
    subprocess.run(command, cwd=root, check=True, capture_output=True)


def _dump_like(root: Path, name: str) -> Path:
    path = root / name
    path.mkdir()
    (path / "index.json").write_bytes((root / "dump" / "index.json").read_bytes())
    return path


def _artefact(index: dict[str, Any]) -> dict[str, Any]:
    artefact: dict[str, Any] = index["functions"][0]["compiles"][0]["artefacts"][0]
    return artefact


def _connected(root: Path) -> AbstractAsyncContextManager[Client]:
    environment = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "depyf", "mcp", "--directory", str(root)], env=environment
    )
    return Client(parameters)


def _with_client(root: Path, act: Callable[[Client], Any]) -> Any:
    async def main() -> Any:
        async with _connected(root) as client:
            return await act(client)

    return anyio.run(main)


def _text(result: Any) -> str:
    return "".join(part.text for part in result.content)


def test_all_tools_through_the_client(project: Path) -> None:
    """The loop of an agent: run, show, look closer, change nothing, compare."""

    async def act(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"run", "show", "source", "explain_guard", "fix", "diff"}
        assert all(tool.description and tool.annotations for tool in tools.values())
        progress: list[float] = []

        async def heard(seconds: float, total: float | None, message: str | None) -> None:
            progress.append(seconds)

        ran = await client.call_tool(
            "run", {"script": "train.py", "arguments": ["3"], "output": "again"}, progress_callback=heard
        )
        answer = json.loads(_text(ran))
        assert not ran.is_error and answer["exit_code"] == 0 and "done 3" in answer["output"]
        assert progress and progress == sorted(progress)
        (finding,) = answer["shown"]["findings"]
        assert (finding["file"], finding["line"]) == ("train.py", 7)
        more = await client.call_tool("show", {"dump": "again", "id": finding["id"], "budget": 1500})
        assert json.loads(_text(more))["view"] == "finding" and count(_text(more)) <= 1500
        stages = await client.call_tool("source", {"dump": "again", "file": "train.py", "line": 6})
        assert "captured_graph" in {artefact["stage"] for artefact in json.loads(_text(stages))["stages"]}
        part = await client.call_tool(
            "source", {"dump": "again", "file": "train.py", "line": 6, "stage": "captured_graph"}
        )
        assert "relu" in json.loads(_text(part))["parts"][0]["text"]
        guard = await client.call_tool("explain_guard", {"dump": "again", "compile": "0/0", "guard": "by"})
        explained = json.loads(_text(guard))
        assert any("2" in guard["condition"] for guard in explained["guards"])
        assert explained["refused"][0]["made"] == "0/1"
        differs = await client.call_tool("diff", {"old": "one", "new": "again"})
        assert "recompiles" in _text(differs)
        same = await client.call_tool("diff", {"old": "dump", "new": "again"})
        assert _text(same) == "nothing changed"
        (skill,) = (await client.read_resource("depyf://skill")).contents
        assert "name: depyf" in skill.text

    _with_client(project, act)


def test_a_run_that_fails_or_takes_too_long_is_told(project: Path) -> None:
    (project / "raises.py").write_text("raise SystemExit('no data')\n", encoding="utf-8")

    async def act(client: Client) -> None:
        failed = json.loads(_text(await client.call_tool("run", {"script": "raises.py", "output": "failed"})))
        assert failed["exit_code"] == 1 and "no data" in failed["output"]
        assert failed["shown"].startswith("nothing to show")
        late = json.loads(
            _text(await client.call_tool("run", {"script": "sleeper.py", "output": "late", "limit": 4}))
        )
        assert late["exit_code"] is None and "4 s" in late["ended"]
        assert _has_ended(int((project / "pid").read_text(encoding="utf-8")))

    _with_client(project, act)


def test_a_cancelled_run_ends_its_program_and_the_server_goes_on(project: Path) -> None:
    async def act(client: Client) -> None:
        pid = project / "pid"
        pid.unlink(missing_ok=True)
        with anyio.move_on_after(60) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "run", {"script": "sleeper.py", "output": "cancelled"})
                while not pid.exists() or not pid.read_text(encoding="utf-8"):
                    await anyio.sleep(0.1)
                tasks.cancel_scope.cancel()
        assert not scope.cancelled_caught
        number = int(pid.read_text(encoding="utf-8"))
        until = time.monotonic() + 30
        while not _has_ended(number) and time.monotonic() < until:
            await anyio.sleep(0.2)
        assert _has_ended(number)
        assert "findings" in _text(await client.call_tool("show", {"dump": "dump"}))

    _with_client(project, act)


def _has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"


def _hostile_requests(project: Path, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield requests that a server must refuse. All are harmless also if it does not."""
    generator = random.Random(seed)
    outside = project.parent / "outside0"
    leaving = [
        *("..", "../outside0", "../outside0/secret.txt", "leak", "leak/secret.py", "leak.py", "dump/../../outside0"),
        *(str(outside), str(outside / "secret.py"), "/etc", "/etc/passwd", "//etc", "dump\0", "\0", ""),
        *("linked", "train.py", "." * 5000, "a" * 100_000),
    ]
    paths = [*leaving, "~", "crafted", "nowhere", "file:///etc/passwd", "C:\\Windows", "$(touch x)", "; touch x"]
    values: list[Any] = [None, True, 3, -1, 2.5, [], {}, ["x"], {"a": 1}, 10**30, 1e300, "x" * 1_000_000]
    names = {
        "run": ("script", "output"),
        "show": ("dump",),
        "source": ("dump",),
        "explain_guard": ("dump",),
        "fix": ("script", "patch"),
        "diff": ("old", "new"),
    }
    good: dict[str, dict[str, Any]] = {
        "run": {"script": "train.py", "arguments": ["1"], "output": "hostile"},
        "show": {"dump": "dump"},
        "source": {"dump": "dump", "file": "train.py", "line": 6},
        "explain_guard": {"dump": "dump", "compile": "0/0", "guard": "1"},
        "fix": {"script": "train.py", "arguments": ["1"]},
        "diff": {"old": "dump", "new": "dump"},
    }
    kinds = ("path", "path", "type", "missing", "budget", "id", "module", "tool")
    for number in range(HOSTILE):
        tool = generator.choice(sorted(names))
        arguments = dict(good[tool])
        match kinds[number % len(kinds)]:
            case "path":
                name = generator.choice(names[tool])
                # A new directory with an odd name inside of the project is no offence, and train.py is a script.
                arguments[name] = generator.choice(leaving if name in ("output", "patch") else paths[len(leaving) :])
                if name not in ("output", "patch") and generator.random() < 0.5:
                    arguments[name] = generator.choice([name for name in leaving if name != "train.py"])
            case "type":
                arguments[generator.choice(names[tool])] = generator.choice(values)
            case "missing":
                tool = generator.choice(("run", "source", "explain_guard", "fix", "diff"))
                arguments = {}
            case "budget":
                tool = "show"
                arguments = {"dump": "dump", "budget": generator.choice((0, -5, 1, 10**12, "many", None))}
            case "id":
                tool = "show"
                arguments = {"dump": "dump", "id": generator.choice([path for path in paths if path])}
            case "module":
                tool = "run"
                module = generator.choice(("os", "http.server", "leak", "..train", "-c", "a b", "leak.secret"))
                arguments = {"script": module, "module": True}
            case _:
                tool = generator.choice(("shell", "eval", "Run", "show ", "../run", "x" * 5000))
        yield tool, arguments


def _snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}


def test_200_hostile_requests_get_a_clear_error_each_and_touch_nothing(project: Path) -> None:
    outside = project.parent / "outside0"
    before, inside = _snapshot(outside), set(os.listdir(project))
    requests = list(_hostile_requests(project, seed=1))
    assert len(requests) == HOSTILE
    answers: list[tuple[str, dict[str, Any], str]] = []

    async def act(client: Client) -> None:
        for tool, arguments in requests:
            try:
                result = await client.call_tool(tool, arguments)
            except MCPError as error:
                answers.append((tool, arguments, str(error)))
                continue
            assert result.is_error, (tool, str(arguments)[:200], _text(result)[:300])
            answers.append((tool, arguments, _text(result)))
        assert "findings" in _text(await client.call_tool("show", {"dump": "dump"}))

    _with_client(project, act)
    assert len(answers) == HOSTILE
    for tool, arguments, text in answers:
        assert SECRET not in text
        assert len(text) > 10, (tool, arguments)
        # This is what the SDK says of an exception that nobody expected.
        assert text.strip() != f"Error executing tool {tool}", (tool, str(arguments)[:200])
        assert "Traceback" not in text
    assert _snapshot(outside) == before
    assert set(os.listdir(project)) == inside


@pytest.mark.parametrize("name", ["..", "leak", "leak/secret.txt", "/etc", "", "a\0b", "x" * 2000, "dump/../.."])
def test_paths_that_leave_the_directory_are_refused(project: Path, name: str) -> None:
    with pytest.raises(RefusedError):
        Confined(project.resolve()).path(name)


def test_paths_inside_are_resolved(project: Path) -> None:
    confined = Confined(project.resolve())
    assert confined.path("dump/../train.py") == project.resolve() / "train.py"
    assert confined.module("train") == "train"
    assert confined.patch("a.patch").name == "a.patch"
    for refused in ("train.py", "leak.patch", "dump"):
        with pytest.raises(RefusedError):
            confined.patch(refused)


def test_output_of_a_process_is_bounded(tmp_path: Path) -> None:
    code = "print('x' * 5_000_000); [print(n) for n in range(5000)]"

    async def tell(seconds: float, line: str) -> None:
        return None

    async def main() -> Any:
        return await run([sys.executable, "-c", code], tmp_path, 60, tell)

    ended = anyio.run(main)
    assert ended.code == 0 and len(ended.lines) == 60 and ended.lines[-1] == "4999"


def test_without_the_package_the_command_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "depyf.cli.mcp.server", None)
    done = CliRunner().invoke(depyf, ["mcp"])
    assert done.exit_code == 1 and "pip install 'mcp>=2'" in done.stderr
