"""What stands above a generated wrapper: who calls it, and what it is given."""

from __future__ import annotations

from depyf.model.artifacts.wrapper_source import wrapper_comments
from depyf.model.given_names import GivenName, Wrapper
from depyf.model.run import Artefact, Dialect

INNER = ("_inner", "__compiled_fn_1.AOT_inner.0.py")


def wrapper_file(stage: str, *wrappers: Wrapper, number: int = 1) -> Artefact:
    file = f"__compiled_fn_{number}.{stage}.0.py"
    return Artefact(stage, Dialect.PYTHON, "def f(): ...", file=file, wrappers=wrappers)


def kernel(part: str) -> Artefact:
    return Artefact("kernel", Dialect.KERNEL, "", part, file=f"__compiled_fn_1.kernel_{part}.py")


def test_a_file_without_known_wrappers_says_nothing() -> None:
    assert wrapper_comments(wrapper_file("AOT_inner"), []) == []


def test_a_wrapper_that_nobody_in_the_dump_gives_is_led_to_by_its_graph() -> None:
    inner = wrapper_file("AOT_inner", Wrapper("_inner", "run, torch/a.py:3", ()))
    assert wrapper_comments(inner, [inner]) == [
        "# _inner is called by run, torch/a.py:3, to which __compiled_fn_1 leads",
    ]


def test_a_wrapper_that_another_one_calls() -> None:
    inner = wrapper_file("AOT_inner", Wrapper("_inner", "", ()))
    given = GivenName("_fn_", "", (INNER,), is_itself=True)
    outer = wrapper_file("AOT_outer", Wrapper("_outer", "", (given,)))
    assert wrapper_comments(inner, [outer, inner]) == [
        "# _inner is called by _outer (__compiled_fn_1.AOT_outer.0.py) as _fn_",
    ]
    assert wrapper_comments(outer, [outer, inner])[1:] == ["#   _fn_  is _inner in __compiled_fn_1.AOT_inner.0.py"]


def test_a_graph_is_where_its_kernel_is_as_soon_as_there_is_one() -> None:
    given = GivenName("_impl_", "run, torch/a.py:3", part="backward")
    outer = wrapper_file("AOT_outer", Wrapper("_outer", "", (given,)))
    graph = Artefact("Backward_graph", Dialect.GRAPH, "", file="__compiled_fn_1.Backward_graph.0.py")
    other = Artefact("Backward_graph", Dialect.GRAPH, "", file="__compiled_fn_2.Backward_graph.0.py")
    before = wrapper_comments(outer, [outer, graph, other])
    after = wrapper_comments(outer, [outer, graph, other, kernel("forward"), kernel("backward")])
    assert before[1].endswith("is run, torch/a.py:3; it leads to the graph in __compiled_fn_1.Backward_graph.0.py")
    assert after[1].endswith("is run, torch/a.py:3; it leads to call in __compiled_fn_1.kernel_backward.py")
    assert len(before) == len(after)
