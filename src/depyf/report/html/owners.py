"""The class that a function is a method of, as the pages show it beside the name: many are called `forward`."""

from __future__ import annotations

from depyf.report.index_reader import Run
from depyf.report.links.blocks import class_of
from depyf.report.model import Function
from depyf.report.modules import owner
from depyf.report.naming import title


def owner_of(run: Run, function: Function) -> str:
    """Return the class of a function's module by its guards, else the class that it is written in; else nothing.

    Nothing, too, where the name of the function says it.
    """
    if "." in title(function):
        return ""
    text = run.text(run.session.sources.get(function.filename, ""))
    return owner(function) or class_of(text, function.first_line)
