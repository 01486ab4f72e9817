"""`depyf show`: print a dump in the terminal, as JSON or as SARIF."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from depyf.cli.exit_codes import EXIT_FAILED, EXIT_USAGE
from depyf.findings import findings, merged
from depyf.model.index_reader import Run
from depyf.views.brief.fitted import LEAST
from depyf.views.html.process import Process, processes
from depyf.views.lines import message_lines
from depyf.views.sarif import sarif
from depyf.views.terminal.data import NAMED, VIEWS, View, inlined_in, names
from depyf.views.terminal.line import Asked, nearest_lines
from depyf.views.terminal.text import Json, rendered

SCHEMA = 1
"""The version of the JSON. It changes when a key is removed or changes its meaning."""

Shown = list[tuple[Process, list[Json]]]


@click.command("show", short_help="Show a dump in the terminal, as JSON or as SARIF.")
@click.option("--findings", "view", flag_value="findings", help="Show the problems, worst first, each with its fix.")
@click.option("--breaks", "view", flag_value="breaks", help="Show where graphs end and which code runs eagerly.")
@click.option("--recompiles", "view", flag_value="recompiles", help="Show what was recompiled and which guards failed.")
@click.option("--caches", "view", flag_value="caches", help="Show hits, misses and bypasses, with reasons.")
@click.option("--costs", "view", flag_value="costs", help="Show how long each phase of each compile took.")
@click.option(
    "--compile-times", "view", flag_value="compile_times", help="Show what each line cost in each stage of compiling."
)
@click.option(
    "--function", metavar="NAME", help="Show a function's source, and the code, guards and files of each compile."
)
@click.option("--graph", metavar="ID", help="Show a graph in all its stages, by number, name or compile id.")
@click.option("--kernel", metavar="NAME", help="Show the text of a kernel, with your lines as comments.")
@click.option(
    "--line",
    "place",
    metavar="FILE:LINE",
    help="Show what became of a line of yours: its compiles, graph nodes, kernels, findings and times.",
)
@click.option("--process", "label", metavar="LABEL", help="Show only this process of the run: `rank 0`.")
@click.option("--json", "as_json", is_flag=True, help="Print the view as JSON; docs/show.schema.json describes it.")
@click.option(
    "--budget",
    type=click.IntRange(LEAST),
    metavar="TOKENS",
    help="With --json: print the findings first, and no more than this many tokens.",
)
@click.option("--id", "wanted", default="", metavar="ID", help="With --budget: print more about an id of an answer.")
@click.option(
    "--sarif", "as_sarif", is_flag=True, help="Print the findings as SARIF 2.1.0, for editors and code hosts."
)
@click.option("--lines", "as_lines", is_flag=True, help="Print a line for each finding, as compilers do, for editors.")
@click.option("--pager/--no-pager", default=True, help="Use a pager for output longer than the terminal.")
@click.argument("directory", metavar="DUMP", type=click.Path(path_type=Path))
def show(
    view: str | None,
    function: str | None,
    graph: str | None,
    kernel: str | None,
    place: str | None,
    label: str | None,
    as_json: bool,
    budget: int | None,
    wanted: str,
    as_sarif: bool,
    as_lines: bool,
    pager: bool,
    directory: Path,
) -> None:
    """Show in the terminal what a run compiled. DUMP is the directory of the dump.

    By default it prints the findings and one line for each compile. Exit code 0; 1 if the dump is broken, 2 if there is
    no dump or nothing of that name in it.
    """
    wished = {"function": function, "graph": graph, "kernel": kernel, "line": place}
    named = [(what, name) for what, name in wished.items() if name]
    _check_views(len(named) + (view is not None), as_sarif, as_lines, as_json, budget, wanted)
    chosen = _processes(directory, label)
    if budget is not None:
        _answer(directory, {process.label: process.run for process in chosen}, budget, wanted)
        return
    if as_sarif or as_lines:
        _print_findings(chosen, as_sarif)
        return
    views = _views(named, view, as_json)
    try:
        shown = [(name, [(process, view_of(process.run)) for process in chosen]) for name, view_of in views]
    except ValueError as error:
        click.echo(f"depyf show: {error}", err=True)
        sys.exit(EXIT_FAILED)
    if named and not any(items for _, items in shown[0][1]):
        _end_without(*named[0], chosen, directory)
    if as_json:
        click.echo(_json(*shown[0]))
    else:
        _print(shown, pager)


def _check_views(views: int, as_sarif: bool, as_lines: bool, as_json: bool, budget: int | None, wanted: str) -> None:
    """Check that the options go together.

    views: the number of chosen views.

    Raises:
        click.UsageError: they do not.
    """
    if views + as_sarif + as_lines > 1 or (as_json and (as_sarif or as_lines)):
        raise click.UsageError("choose only one view")
    if wanted and budget is None:
        raise click.UsageError("--id needs --budget")
    if budget is not None and (views or not as_json):
        raise click.UsageError("--budget goes with --json and with no view")


def _print_findings(chosen: list[Process], as_sarif: bool) -> None:
    """Print the findings for editors and code hosts."""
    if as_sarif:
        click.echo(sarif((process.label, findings(process.run.session)) for process in chosen), nl=False)
        return
    for line in message_lines(merged(finding for process in chosen for finding in findings(process.run.session))):
        click.echo(line)


def _answer(directory: Path, runs: dict[str, Run], budget: int, wanted: str) -> None:
    """Print the answer that fits a budget."""
    from depyf.views.brief.answer import Question, UnknownIdError, answer
    from depyf.views.brief.tried import tried_in

    ask = f"depyf show {directory} --json --budget {budget} --id ID"
    try:
        click.echo(answer(Question(runs, budget, tried_in(directory, Path()), ask), wanted))
    except UnknownIdError as error:
        click.echo(f"depyf show: {error}", err=True)
        sys.exit(EXIT_USAGE)
    except (OSError, ValueError) as error:
        click.echo(f"depyf show: {error}", err=True)
        sys.exit(EXIT_FAILED)


def _end_without(what: str, name: str, chosen: list[Process], directory: Path) -> None:
    if what == "line":
        asked = Asked.of(name)
        why = nearest_lines((process.run for process in chosen), asked) if asked else f"not FILE:LINE: {name!r}"
        click.echo(f"depyf show: {why}", err=True)
        sys.exit(EXIT_USAGE)
    inlined = dict.fromkeys(where for process in chosen for where in inlined_in(process.run, name))
    if what == "function" and inlined:
        click.echo(f"depyf show: {name!r} has no compile of its own: {'; '.join(inlined)}", err=True)
        sys.exit(EXIT_USAGE)
    known = ", ".join(dict.fromkeys(known_name for process in chosen for known_name in names(process.run, what)))
    click.echo(f"depyf show: there is no {what} {name!r} in {directory}; there is: {known or 'none'}", err=True)
    sys.exit(EXIT_USAGE)


def _views(named: list[tuple[str, str]], view: str | None, as_json: bool) -> list[tuple[str, View]]:
    if named:
        what, name = named[0]
        return [(what, NAMED[what](name))]
    if view is not None or as_json:
        return [(view or "overview", VIEWS[view or "overview"])]
    return [(standard, VIEWS[standard]) for standard in ("findings", "overview")]


def _processes(directory: Path, label: str | None) -> list[Process]:
    try:
        all_processes = processes(directory, 0.0)
    except (OSError, ValueError) as error:
        click.echo(f"depyf show: {error}", err=True)
        sys.exit(EXIT_FAILED)
    kept = [process for process in all_processes if label in (None, process.label, process.key)]
    if not kept:
        what = f"no process {label!r}" if all_processes else "no dump"
        click.echo(f"depyf show: there is {what} in {directory}", err=True)
        sys.exit(EXIT_USAGE)
    return kept


def _json(name: str, shown: Shown) -> str:
    content = [
        {"label": process.label, "torch": process.run.session.torch_version, "items": items} for process, items in shown
    ]
    return json.dumps({"schema": SCHEMA, "view": name, "processes": content}, indent=1)


def _print(shown: Iterable[tuple[str, Shown]], pager: bool) -> None:
    console = Console(highlight=False, soft_wrap=False)
    with console.capture() as capture:
        for name, those in shown:
            for process, items in those:
                if len(those) > 1:
                    console.print(Text(process.label, "bold reverse"))
                console.print(rendered(name, items), crop=False)
    text = capture.get()
    if pager and console.is_terminal and text.count("\n") >= console.height:
        os.environ.setdefault("LESS", "-R")
        click.echo_via_pager(text, color=True)
    else:
        click.echo(text, nl=False, color=console.is_terminal)
