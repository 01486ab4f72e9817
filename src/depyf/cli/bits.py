"""`depyf bits`: the first kernel and line whose bits differ, of a program and eager or of two recorded runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from depyf.bytecode.records import dataclass
from depyf.cli.atomic import write_whole
from depyf.cli.bits_dumps import NoComparison, compared_dumps, hint, values_of
from depyf.cli.exit_codes import EXIT_FAILED, EXIT_USAGE
from depyf.cli.setting import parsed_setting


@click.command(
    "bits",
    short_help="Find the first kernel whose bits differ.",
    context_settings={"allow_interspersed_args": False},
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Compile with this setting; repeatable.")
@click.option("--restore", is_flag=True, help="Try which settings give eager's bits, and at what cost.")
@click.option("--batch", metavar="PART,SIZE", help="Compare the parts of a batch, each alone, with the batch: 1,64.")
@click.option("--again", is_flag=True, help="With two dumps: run both programs again, and compare values.")
@click.option("--html", "page", metavar="FILE", help="Write a page with the chain of kernels.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("script", metavar="SCRIPT | DUMP")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bits(
    settings: tuple[str, ...],
    restore: bool,
    batch: str | None,
    again: bool,
    page: str | None,
    as_json: bool,
    script: str,
    arguments: tuple[str, ...],
) -> None:
    """Run SCRIPT with ARGUMENTS, and compare its graphs, compiled and eager, bit by bit; or compare two dumps.

    The script runs once, with its graphs in eager. Then the first call of each graph is compiled and compared, forward
    and backward, kernel by kernel, up to the first difference. A setting is an option of Inductor's, `threads`, or an
    environment variable in capital letters. With --batch 1,64, each row of a batch of 64 runs alone, and its forward is
    compared with that of the batch.

    `depyf bits A B` compares two runs that `depyf run --bits -o A` and `-o B` recorded, by hashes of what each kernel
    wrote, and of the inputs of each call. With --again, both programs run once more, and the first kernel that differs
    is compared value by value.

    The exit code is 0 if all results that were compared are equal, 1 if some differ or none was compared, 2 if there
    is no such script or setting.
    """
    if os.path.isdir(script):
        flags = [*(["--again"] if again else []), *(["--json"] if as_json else [])]
        flags += [f"--html={page}"] if page is not None else []
        dumps.main([*flags, script, *arguments], prog_name="depyf bits")
    if not os.path.isfile(script):
        click.echo(f"depyf bits: there is no script {script!r}", err=True)
        sys.exit(EXIT_USAGE)
    try:
        wanted = dict(map(parsed_setting, settings))
        sizes = _sizes(batch) if batch is not None else None
    except ValueError as error:
        click.echo(f"depyf bits: {error}", err=True)
        sys.exit(EXIT_USAGE)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "bits.json"
        asked = json.dumps({"settings": wanted, "restore": restore, "batch": sizes, "output": str(output)})
        command = [sys.executable, "-m", "depyf.torch.bits.script", asked, script, *arguments]
        # torch reads most variables when it is imported.
        variables = {name: str(value) for name, value in wanted.items() if name.isupper()}
        code = subprocess.call(command, env={**os.environ, **variables})
        if code == EXIT_USAGE:  # The process has printed which setting there is not.
            sys.exit(EXIT_USAGE)
        if code or not output.exists():
            click.echo(f"depyf bits: the comparison ended with code {code}", err=True)
            sys.exit(EXIT_FAILED)
        report = json.loads(output.read_text(encoding="utf-8"))
    _put([report["data"]], [report["text"]], Wanted(again, as_json, page))
    sys.exit(0 if report["data"]["equal"] else EXIT_FAILED)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of a comparison.

    again: run two programs again. as_json: print JSON. page: the file of the page, if one is wanted.
    """

    again: bool
    as_json: bool
    page: str | None


def _put(contents: list[dict[str, Any]], texts: list[str], wanted: Wanted) -> None:
    """Print comparisons, and write a page for each."""
    if wanted.as_json:
        click.echo(json.dumps(contents[0] if len(contents) == 1 else contents, indent=1))
    else:
        click.echo("\n".join(texts))
    for number, (content, text) in enumerate(zip(contents, texts, strict=True)):
        if wanted.page is not None:
            from depyf.views.html.bits import bits_page

            path = Path(wanted.page)
            path = path.with_stem(f"{path.stem}_{number}") if number else path
            write_whole(path, bits_page(content, text.splitlines()))


@click.command("bits")
@click.option("--again", is_flag=True, help="Run both programs again, and compare values.")
@click.option("--html", "page", metavar="FILE", help="Write a page with the chain of kernels.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("ours", type=click.Path(exists=True, file_okay=False))
@click.argument("theirs", type=click.Path(exists=True, file_okay=False))
def dumps(again: bool, page: str | None, as_json: bool, ours: str, theirs: str) -> None:
    """Compare OURS with THEIRS, two dumps of `depyf run --bits`."""
    wanted = Wanted(again, as_json, page)
    try:
        comparisons = compared_dumps(Path(ours), Path(theirs))
        values = [values_of(sides, again=wanted.again) for sides in comparisons]
    except NoComparison as error:
        click.echo(f"depyf bits: {error}", err=True)
        sys.exit(EXIT_USAGE)
    pairs = list(zip(comparisons, values, strict=True))
    texts = ["\n".join(sides.text(content, hint(sides, [ours, theirs]))) for sides, content in pairs]
    _put([sides.data(content) for sides, content in pairs], texts, wanted)
    sys.exit(0 if all(sides.comparison.is_equal for sides in comparisons) else EXIT_FAILED)


def _sizes(text: str) -> tuple[int, int]:
    """Return the two sizes of a batch.

    Raises:
        ValueError: the text is no pair of different positive numbers, of which the larger is a multiple of the other.
    """
    parts = sorted(int(part) for part in text.split(",") if part.isdecimal())
    if len(parts) != 2 or parts[0] < 1 or parts[0] == parts[1] or parts[1] % parts[0]:
        raise ValueError(f"--batch needs two sizes such as 1,64, not {text!r}")
    return parts[0], parts[1]
