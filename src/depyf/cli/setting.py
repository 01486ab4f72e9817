"""The settings that `--set NAME=VALUE` gives, and the options of `depyf run` that record bits."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable
from typing import Any

import click

from depyf.cli.exit_codes import EXIT_USAGE


def parsed_setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of a setting.

    Raises:
        ValueError: the text has no name or no `=`.
    """
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ValueError(f"--set needs NAME=VALUE, not {text!r}")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value


def bits_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that record bits to a command, which receives them as `bits`: fields of `Settings`."""

    @click.option("--bits", "records", is_flag=True, help="Record hashes of what kernels write, for `depyf bits A B`.")
    @click.option("--bits-of", default="", metavar="PLACE", help="With --bits: keep the values of this launch.")
    @click.option("--set", "changed", multiple=True, metavar="NAME=VALUE", help="With --bits: run with this setting.")
    @functools.wraps(command)
    def with_bits(*args: object, records: bool, bits_of: str, changed: tuple[str, ...], **kwargs: object) -> None:
        records = records or bool(bits_of)
        try:
            settings = dict(map(parsed_setting, changed))
            if settings and not records:
                raise ValueError("--set needs --bits")
        except ValueError as error:
            click.echo(f"depyf run: {error}", err=True)
            sys.exit(EXIT_USAGE)
        command(*args, bits={"bits": records, "bits_of": bits_of, "changed": settings}, **kwargs)

    return with_bits
