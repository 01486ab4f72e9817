"""The class whose method a function is, which the pages show beside the name, because many are called `forward`."""

from __future__ import annotations

from depyf.links.blocks import class_of
from depyf.model.index_reader import Run
from depyf.model.modules import owner
from depyf.model.naming import title
from depyf.model.run import Function


def owner_of(run: Run, function: Function) -> str:
    """Return the class of a function's module by its guards, else the class in which it is defined.

    Return "" if there is none, or if the name of the function already contains it.
    """
    if "." in title(function):
        return ""
    text = run.text(run.session.sources.get(function.filename, ""))
    return owner(function) or class_of(text, function.first_line)
