"""Comments above a function that AOTAutograd wrote: its callers, and the meaning of its names.

before:
    def _backward_epilogue(out):
        return _wrap_(out)
after:
    # _backward_epilogue is called by _compiled_backward (__compiled_fn_1.AOT_backward.0.py) as _epilogue_. In it
    #   _wrap_  is wrap_fn in __compiled_fn_1.backward_subclass_wrapper.0.py
    def _backward_epilogue(out):
        return _wrap_(out)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from depyf.model.given_names import GivenName, Wrapper
from depyf.model.run import Artefact, Compile, Dialect
from depyf.model.user_source import short_path

_GRAPH_OF = {"forward": "Forward_graph", "backward": "Backward_graph"}
_PARTS = {"forward": ("forward", "inference"), "backward": ("backward",)}
"""Inductor's names for its module for a part of a graph."""


def python_file(artefact: Artefact, compiled: Compile | None, compiled_fn: int | None) -> str:
    """Return the file of a generated wrapper: a title, the meaning of its names, and its text.

    Args:
        artefact: the wrapper.
        compiled: the compile that it belongs to, or None outside any compile.
        compiled_fn: the number of its graph, if it has one.
    """
    beside = compiled.artefacts if compiled is not None else ()
    head = [f"# {artefact_title(artefact, compiled, compiled_fn)}", *wrapper_comments(artefact, beside)]
    return "\n".join([*head, artefact.text.rstrip("\n"), ""])


def artefact_title(artefact: Artefact, compiled: Compile | None, compiled_fn: int | None) -> str:
    """Return a title for an artefact, in one line.

    Args:
        artefact: a graph or a generated text.
        compiled: the compile that it belongs to, or None outside any compile.
        compiled_fn: the number of its graph, if it has one.
    """
    stage = artefact.stage.replace("_", " ")
    if compiled is None:
        return f"{stage}, made outside any compiled frame"
    place = f"{compiled.name}, {short_path(compiled.filename)}:{compiled.first_line}"
    name = f" of __compiled_fn_{compiled_fn}" if compiled_fn is not None else ""
    return f"{stage}{name} in {place}, compile {compiled.id}"


def wrapper_comments(artefact: Artefact, beside: Sequence[Artefact]) -> list[str]:
    """Return the comments for the file of `artefact`; `beside` are all artefacts of its compile.

    The number of comments does not depend on the other artefacts, so the lines of the file keep their numbers.
    """
    owner = artefact.file.partition(".")[0]
    artefacts = [artefact for artefact in beside if artefact.file.partition(".")[0] == owner]
    return [line for wrapper in artefact.wrappers for line in _comments(wrapper, artefact.file, artefacts)]


def _comments(wrapper: Wrapper, file: str, beside: Sequence[Artefact]) -> list[str]:
    wrapper_in_file = wrapper.name, file
    directly, through = [], []
    for artefact in beside:
        for other in artefact.wrappers:
            where = f"{other.name} ({'in this file' if artefact.file == file else artefact.file})"
            names = [given for given in other.given if wrapper_in_file in given.leads_to]
            directly += [f"{where} as {given.name}" for given in names if given.is_itself]
            through += [f"to which {given.name} in {where} leads" for given in names if not given.is_itself]
    begin = [] if directly or through else [f"to which {file.partition('.')[0]} leads"]
    by = ", and ".join([*directly, *([", ".join((wrapper.called_by, *through, *begin))] if wrapper.called_by else [])])
    ending = ". In it" if wrapper.given else ""
    first = f"# {wrapper.name} is called by {by}{ending}" if by else f"# In {wrapper.name}"
    width = max((len(given.name) for given in wrapper.given), default=0)
    return [first, *(f"#   {given.name:{width}}  {_words(given, file, beside)}" for given in wrapper.given)]


def _words(given: GivenName, file: str, beside: Iterable[Artefact]) -> str:
    places = [f"{name} {'in this file' if place == file else f'in {place}'}" for name, place in given.leads_to]
    if given.is_itself:
        return f"is {places[0]}"
    places = places or _of_graph(given.part, beside)
    return f"is {given.what}" + (f"; it leads to {' and '.join(places)}" if places else "")


def _of_graph(part: str, beside: Iterable[Artefact]) -> list[str]:
    """Return where the graph itself runs: in Inductor's modules, or in the graph's own file."""
    kernels = [
        artefact.file
        for artefact in beside
        if artefact.dialect is Dialect.KERNEL and artefact.part in _PARTS.get(part, ())
    ]
    if kernels:
        return [f"call in {file}" for file in kernels]
    return [f"the graph in {artefact.file}" for artefact in beside if artefact.stage == _GRAPH_OF.get(part)]
