"""The server: its tools read and write inside one directory only, and start no shell."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from depyf.cli.exit_codes import EXIT_DIFFERENT, EXIT_DONE
from depyf.cli.mcp.confined import LONGEST, Confined, RefusedError
from depyf.cli.mcp.process import Ended, run
from depyf.cli.skill_command import skill_text
from depyf.model.index_reader import Run
from depyf.version import __version__
from depyf.views.brief.answer import Question, UnknownIdError, answer
from depyf.views.brief.fitted import LEAST
from depyf.views.brief.guard import guard_explained
from depyf.views.brief.stage import stage_of_line
from depyf.views.brief.tried import FILE as TRIED
from depyf.views.brief.tried import tried_in

DUMP = "depyf_output"
INSTRUCTIONS = (
    "depyf shows what torch.compile did with a program and what to change. Work in a loop: run the program, show the "
    "findings, change the program at the file and line of the first finding as its fix says, run again into another "
    "directory, and diff. Keep a fix with `with depyf.expect(graphs=1, breaks=0, recompiles=0):` in a test."
)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_RUNS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

Name = Annotated[str, Field(min_length=1, max_length=LONGEST, description="A path, relative to the working directory.")]
Dump = Annotated[str, Field(min_length=1, max_length=LONGEST, description="The directory that `run` wrote.")]
Budget = Annotated[int, Field(ge=LEAST, le=100_000, description="The most tokens of the answer.")]
Seconds = Annotated[float, Field(gt=0, le=86_400, description="End the program after so many seconds.")]
Word = Annotated[str, Field(max_length=4096)]
Arguments = Annotated[list[Word], Field(max_length=256, description="The arguments of the program.")]
Id = Annotated[str, Field(max_length=LONGEST, description="An id of an earlier answer; empty for the findings.")]
Backend = Annotated[str, Field(max_length=100, pattern=r"^[\w.:-]*$")]
Text = Annotated[str, Field(max_length=LONGEST)]
Line = Annotated[int, Field(ge=1, le=10_000_000, description="A line of that file, from 1.")]


class Tools:
    """The tools of one directory."""

    def __init__(self, directory: Path) -> None:
        self._confined = Confined(directory.resolve())

    async def run(
        self,
        ctx: Context,
        script: Name,
        arguments: Arguments = [],  # noqa: B006 - the protocol reads the default, and nothing changes it
        module: bool = False,
        output: Name = DUMP,
        backend: Backend = "",
        limit: Seconds = 600.0,
        budget: Budget = 2000,
    ) -> str:
        """Run a script of the working directory as `python` does, and show what torch.compile did: findings first.

        With `module`, `script` is the name of a module in the working directory. `backend` ("eager", "aot_eager")
        replaces the program's own; without Inductor a run takes seconds, with the same breaks and recompiles.

        Args:
            ctx: the request, which receives the progress.
            script: the script, relative to the working directory, or a module.
            arguments: the arguments of the program.
            module: whether `script` is the name of a module.
            output: the directory of the dump.
            backend: replaces the program's own backend.
            limit: the time limit in seconds.
            budget: the most tokens of the answer.
        """
        dump = self._checked(self._confined.output, output)
        target = self._target(script, module)
        options = ["-o", str(dump), "--no-html", *_backend(backend)]
        ended = await self._run(ctx, ["run", *options, *(["-m"] if module else []), target, *arguments], limit)
        content: dict[str, Any] = {"exit_code": ended.code, "seconds": round(ended.seconds, 1)}
        if ended.code is None:
            content["ended"] = f"depyf ended it after {limit:g} s"
        try:
            content["shown"] = json.loads(await self._ask(output, budget, partial(answer, wanted="")))
        except ToolError as error:
            content["shown"] = f"nothing to show: {error}"
        # depyf's own lines at the end of a run repeat `shown`.
        is_shown = isinstance(content["shown"], dict)
        printed = [line for line in ended.lines if not (is_shown and line.startswith("depyf: "))]
        content["output"] = "\n".join(printed)
        return json.dumps(content, ensure_ascii=False)

    async def show(self, dump: Dump = DUMP, id: Id = "", budget: Budget = 2000) -> str:  # noqa: A002 - the word of answers
        """Show the findings of a run, the worst first, each with file, line, cause and fix; or more about an id.

        Ids are those of findings, of compiles (`0/1`), of their guards (`0/1:guards`), and names of files with lines.

        Args:
            dump: the directory that `run` wrote.
            id: an id of an earlier answer; empty for the findings.
            budget: the most tokens of the answer.
        """
        return await self._ask(dump, budget, partial(answer, wanted=id))

    async def source(
        self, file: Name, line: Line, stage: Text = "", dump: Dump = DUMP, budget: Budget = 2000
    ) -> str:
        """Show what a line of the program became in a stage of the compiler; without a stage, list the stages.

        Stages: `captured_graph`, `transformed`, `guards`, `joint_graph`, `forward_graph`, `after_post_grad`, `kernel`.

        Args:
            file: a file of the program.
            line: a line of it, from 1.
            stage: one of the stages, or empty.
            dump: the directory that `run` wrote.
            budget: the most tokens of the answer.
        """
        return await self._ask(dump, budget, partial(stage_of_line, file=file, line=line, stage=stage))

    async def explain_guard(self, compile: Text, guard: Text, dump: Dump = DUMP, budget: Budget = 2000) -> str:  # noqa: A002
        """Explain guards of a compile: the value, the condition, the line that needs it, and the calls it refused.

        `guard` is a number from 1, a part of a guard's text, or the value as the program writes it (`self.scale`).

        Args:
            compile: the id of a compile, such as `0/1`.
            guard: the guard, or a part of it.
            dump: the directory that `run` wrote.
            budget: the most tokens of the answer.
        """
        return await self._ask(dump, budget, partial(guard_explained, compile_id=compile, wanted=guard))

    async def fix(
        self,
        ctx: Context,
        script: Name,
        arguments: Arguments = [],  # noqa: B006 - the protocol reads the default, and nothing changes it
        module: bool = False,
        backend: Backend = "",
        patch: Name = "depyf_fix.patch",
        limit: Seconds = 1800.0,
    ) -> str:
        """Run the program with edits for its findings, compare results, and write the edits that help as a patch.

        The files of the program stay as they are. The answer names each edit that was tried, and holds the patch.

        Args:
            ctx: the request, which receives the progress.
            script: the script, relative to the working directory, or a module.
            arguments: the arguments of the program.
            module: whether `script` is the name of a module.
            backend: replaces the program's own backend.
            patch: the file of the patch.
            limit: the time limit in seconds.
        """
        file = self._checked(self._confined.patch, patch)
        self._checked(self._confined.path, TRIED)
        target = self._target(script, module)
        options = ["--json", "--patch", str(file), "--budget", f"{limit:g}", *_backend(backend)]
        ended = await self._run(ctx, ["fix", *options, *(["-m"] if module else []), target, *arguments], limit)
        return json.dumps({"exit_code": ended.code, "output": _tail(ended)}, ensure_ascii=False)

    async def diff(self, ctx: Context, old: Dump, new: Dump, limit: Seconds = 300.0) -> str:
        """Show what changed between two runs: compiled functions, breaks, recompiles, guards, graphs and kernels.

        Args:
            ctx: the request, which receives the progress.
            old: the directory of the earlier run.
            new: the directory of the later run.
            limit: the time limit in seconds.
        """
        paths = []
        for name in (old, new):
            await anyio.to_thread.run_sync(partial(self._checked, self._confined.runs, name))
            paths.append(str(self._confined.path(name)))
        ended = await self._run(ctx, ["diff", *paths], limit)
        if ended.code not in (EXIT_DONE, EXIT_DIFFERENT):
            raise ToolError("\n".join(ended.lines) or f"depyf diff took longer than {limit:g} s")
        return "\n".join(ended.lines)

    async def _ask(self, dump: str, budget: int, ask: Callable[[Question], str]) -> str:
        """Return the answer to a question about a dump. It is read in a thread, because that may take seconds."""

        def asked() -> str:
            runs: dict[str, Run] = self._confined.runs(dump)
            tried = tried_in(self._confined.path(dump), self._confined.path(TRIED).parent)
            return ask(Question(runs, budget, tried, "the tool show with an id"))

        return await anyio.to_thread.run_sync(partial(self._checked, lambda _: asked(), ""))

    async def _run(self, ctx: Context, arguments: list[str], limit: float) -> Ended:
        async def tell(seconds: float, line: str) -> None:
            await ctx.report_progress(min(seconds, limit), limit, line or f"running for {seconds:.0f} s")

        command = [sys.executable, "-m", "depyf", *arguments]
        return await run(command, self._confined.directory, limit, tell)

    def _target(self, script: str, module: bool) -> str:
        if module:
            return str(self._checked(self._confined.module, script))
        return str(self._checked(self._confined.script, script))

    def _checked(self, check: Callable[[str], Any], name: str) -> Any:  # noqa: ANN401 - what the check returns
        """Return the result of a check.

        Raises:
            ToolError: the request is refused, or names what does not exist.
        """
        try:
            return check(name)
        except (RefusedError, UnknownIdError) as error:
            raise ToolError(str(error)) from error
        except (OSError, ValueError) as error:
            raise ToolError(f"{type(error).__name__}: {error}") from error


def _backend(name: str) -> list[str]:
    return ["--backend", name] if name else []


def _tail(ended: Ended) -> str:
    return "\n".join(ended.lines)


def server_of(directory: Path) -> MCPServer[Any]:
    """Return the server for a directory."""
    server: MCPServer[Any] = MCPServer(
        "depyf", title="depyf", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR"
    )
    tools = Tools(directory)
    for tool, hints in (
        (tools.run, _RUNS),
        (tools.show, _READS),
        (tools.source, _READS),
        (tools.explain_guard, _READS),
        (tools.fix, _RUNS),
        (tools.diff, _READS),
    ):
        server.add_tool(tool, annotations=hints, structured_output=False)
    server.resource("depyf://skill", title="How to work with depyf", mime_type="text/markdown")(skill_text)
    return server
