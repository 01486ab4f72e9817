"""The templates of the pages. Their compiled form is cached, as Python caches that of modules."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from importlib import resources
from pathlib import Path

import jinja2


def asset(name: str) -> str:
    """Return the text of a file of the page."""
    return resources.files("depyf.views.html").joinpath("assets", name).read_text(encoding="utf-8")


class Compiled(jinja2.BytecodeCache):
    """Caches compiled templates beside Python's bytecode of this folder, if the folder is writable."""

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        """Load a template that an earlier run has compiled."""
        with contextlib.suppress(OSError), open(_place(bucket), "rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        """Save a template for later runs."""
        if sys.dont_write_bytecode:
            return
        # An installation may be read-only, and two processes may write at once. Then the template is compiled again.
        with contextlib.suppress(OSError):
            path = _place(bucket)
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f"{path.name}.{id(bucket)}")
            temporary.write_bytes(bucket.bytecode_to_string())
            temporary.replace(path)


def _place(bucket: jinja2.bccache.Bucket) -> Path:
    beside = Path(__file__).with_name(f"{bucket.key}.py")
    return Path(importlib.util.cache_from_source(str(beside))).with_suffix(".jinja")


def environment() -> jinja2.Environment:
    """Return the environment that renders the templates. It escapes every value."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=Compiled(),
    )
