"""Which of the user's lines the lines of an artefact came from."""

from __future__ import annotations

import textwrap

import pytest

from depyf.links.blocks import blocks
from depyf.links.bytecode import bytecode_links, dynamo_links
from depyf.links.flow import flow
from depyf.links.graphs import STALE, graph_links, graph_places, node_origins
from depyf.links.metadata import metadata_links
from depyf.links.moved import moved_places
from depyf.links.origins import Origins
from depyf.links.runnable import ANOTHER, runnable_links
from depyf.links.transformed import GraphPlaces, Seen, transformed_links
from depyf.links.wrappers import Wrapped, wrapper_links
from depyf.model.artifacts.graph_source import user_lines

GRAPH = """\
# Captured Graph
class GraphModule(torch.nn.Module):
    def forward(self, L_a_: "f32[10]"):
        l_a_ = L_a_

        # File: /home/me/toy.py:12 in toy, code: x = a / (torch.abs(a) + 1)
        abs_1: "f32[10]" = torch.abs(l_a_)
        add: "f32[10]" = abs_1 + 1;  abs_1 = None

        # No stacktrace found for following nodes
        zeros: "f32[10]" = torch.zeros(10)

        # File: /home/me/toy.py:13 in toy, code: if b.sum() < 0:
        lt = add < 0
        return (lt, zeros)
"""
NAMES = {"/home/me/toy.py": "toy.py"}


def at(*lines: int) -> Origins:
    return frozenset(("toy.py", line) for line in lines)


def test_the_head_of_a_graph_is_linked_to_nothing() -> None:
    links = graph_links(GRAPH, NAMES)
    assert not links.of(1) and not links.of(2) and not links.of(3)
    assert links.note


def test_an_input_is_there_for_the_lines_that_need_it_and_an_output_came_from_those_that_made_it() -> None:
    links = graph_links(GRAPH, NAMES)
    assert links.of(4) == at(12) and links.of(15) == at(13)
    through = flow(GRAPH, links.lines)
    assert through.inputs == (at(12),) and through.outputs == (at(13), frozenset())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/home/me/toy.py", "/home/me/other.py"),
        ("if b.sum() < 0:", "if b.sum() > 0:"),
        ("toy.py:12", "toy.py:14"),
    ],
    ids=["another program", "other code", "another order"],
)
def test_a_graph_from_a_cache_that_another_program_has_filled_is_not_linked(old: str, new: str) -> None:
    captured = graph_places(GRAPH, NAMES)
    assert graph_links(GRAPH, NAMES, captured).lines
    stale = graph_links(GRAPH.replace(old, new), NAMES, captured)
    assert not stale.lines and stale.note == STALE


def test_a_graph_from_a_cache_whose_lines_have_moved_since_is_linked_to_where_they_are() -> None:
    captured = graph_places(GRAPH.replace("toy.py:12", "toy.py:15").replace("toy.py:13", "toy.py:17"), NAMES)
    links = graph_links(GRAPH, NAMES, captured)
    assert links.of(7) == at(15) and links.of(14) == at(17)


def test_a_line_that_may_have_moved_to_two_places_is_linked_to_none() -> None:
    texts = {("a.py", 3): "x = f(x)"}
    assert moved_places(texts, {("a.py", 5): "x = f(x)", ("a.py", 6): "x = f(x)"}) is None
    assert moved_places(texts, {("a.py", 5): "x = f(x)", ("b.py", 6): "x = f(x)"}) == {("a.py", 3): ("a.py", 5)}
    assert moved_places({("b.py", 3): "x"}, {("a.py", 3): "x"}) is None
    here = {("/here/a.py", 5): "x = f(x)", ("/here/b.py", 7): "y"}
    assert moved_places({("/there/a.py", 3): "x = f(x)"}, here) == {("/there/a.py", 3): ("/here/a.py", 5)}
    assert moved_places({("C:\\there\\a.py", 3): "x = f(x)"}, here) == {("C:\\there\\a.py", 3): ("/here/a.py", 5)}
    assert moved_places({("/there/a.py", 3): "x = g(x)"}, here) is None
    assert moved_places({("/there/a.py", 3): "y"}, {("/1/a.py", 5): "y", ("/2/a.py", 5): "y"}) is None, "which of two?"


def test_a_place_in_a_file_that_dynamo_did_not_name_is_no_sign_of_a_cache() -> None:
    more = GRAPH.replace("        return (lt", "        # File: /torch/other.py:1 in f, code: x\n        return (lt")
    assert graph_links(more, NAMES, graph_places(GRAPH, NAMES)).lines


LISTED = """\
class GraphModule(torch.nn.Module):
    def forward(
        self,
        primals_1: "f32[10]",  # PlainAOTInput(idx=0)
        never: "f32[10]",
    ):
        # File: /home/me/toy.py:12 in toy, code: x = a
        add: "f32[10]" = torch.ops.aten.add.Tensor(primals_1, 1, alpha = 2)
        return (
            add,  # PlainAOTOutput(idx=0)
            None,  # None
        )
"""


def test_inputs_and_outputs_with_lines_of_their_own_are_linked_each() -> None:
    links = graph_links(LISTED, NAMES)
    assert links.of(4) == at(12) and links.of(10) == at(12)
    assert not links.of(5) and not links.of(11)
    assert flow(LISTED, links.lines).inputs == (at(12), frozenset())


def test_an_input_that_is_handed_on_to_the_backward_is_there_for_those_who_need_it() -> None:
    text = LISTED.replace("None,  # None", "primals_1,  # SavedForBackwardsAOTOutput(idx=0)")
    assert graph_links(text, NAMES).of(11) == at(12)


def test_a_name_of_an_operator_or_of_a_keyword_is_no_use_of_a_node() -> None:
    text = LISTED.replace("never", "add_1").replace("aten.add.Tensor(primals_1, 1", "aten.add_1.Tensor(primals_1, 1")
    assert not graph_links(text, NAMES).of(5)


def test_a_node_is_linked_to_the_line_above_its_run() -> None:
    links = graph_links(GRAPH, NAMES)
    assert [links.of(number) for number in (6, 7, 8)] == [at(12)] * 3
    assert links.of(14) == at(13)


def test_a_node_without_a_stack_is_not_given_the_line_of_the_node_before() -> None:
    assert not graph_links(GRAPH, NAMES).of(11)


NOTES = ("Annotation: {'stream': 1}", "ac_graph_id: 2 - PREFER_RECOMPUTE", "recompute: MUST_SAVE")


@pytest.mark.parametrize("note", NOTES)
def test_a_line_of_the_users_stands_behind_what_torch_notes_of_the_nodes(note: str) -> None:
    noted = GRAPH.replace("# File: /home/me/toy.py:13", f"# {note} File: /home/me/toy.py:13")
    assert {number: graph_links(noted, NAMES).of(number) for number in range(1, 16)} == {
        number: graph_links(GRAPH, NAMES).of(number) for number in range(1, 16)
    }
    assert graph_places(noted, NAMES) == graph_places(GRAPH, NAMES)
    assert [line.line for line in user_lines(noted)] == [line.line for line in user_lines(GRAPH)]
    alone = GRAPH.replace("# No stacktrace", f"# {note} No stacktrace")
    assert not graph_links(alone, NAMES).of(11) and graph_links(alone, NAMES).of(8) == at(12)


def test_nodes_are_known_by_name_with_and_without_an_annotation() -> None:
    nodes = node_origins(GRAPH, graph_links(GRAPH, NAMES))
    assert nodes == {"l_a_": at(12), "abs_1": at(12), "add": at(12), "lt": at(13)}


TRANSFORMED = """\
# toy, toy.py:11
def toy(a, b):
    modules = a.modules
    unused = b.modules
    lt, x = __compiled_fn_1(
        modules, b)
    # graph break at :13, `if b.sum() < 0:`: Data-dependent branching (GB0170)
    if lt:
        return __resume_at_102_2(b, x)  # continues in the user's line 14
    return x
"""
OWN = "toy.py", 11
PLACES = {1: GraphPlaces(at(12, 13), inputs=(at(12), at(13)), outputs=(at(13), at(12)))}


def test_a_call_of_a_graph_came_from_all_its_lines() -> None:
    links = transformed_links(TRANSFORMED, PLACES, Seen(at(13)), OWN)
    assert links.of(5) == links.of(6) == at(12, 13)


def test_a_break_and_what_goes_on_after_it_are_linked() -> None:
    links = transformed_links(TRANSFORMED, PLACES, Seen(at(13)), OWN)
    assert links.of(7) == at(13) and links.of(9) == at(14)


def test_what_is_fetched_for_a_graph_and_what_it_gave_are_linked_by_name_and_the_rest_is_not() -> None:
    links = transformed_links(TRANSFORMED, PLACES, Seen(at(13)), OWN)
    assert links.of(3) == at(12) and links.of(8) == at(13) and links.of(10) == at(12)
    assert links.of(2) == at(11)
    assert not any(links.of(number) for number in (1, 4))


def test_an_output_that_is_taken_by_its_index() -> None:
    text = "def toy(a):\n    x = __compiled_fn_1(a)[1]\n    return x\n"
    assert transformed_links(text, PLACES, Seen(), OWN).of(3) == at(12)


def test_a_break_in_another_file_is_linked_to_that_file() -> None:
    text = TRANSFORMED.replace("break at :13", "break at other.py:13")
    elsewhere = frozenset((("lib/other.py", 13),))
    assert transformed_links(text, {}, Seen(elsewhere | at(13)), OWN).of(7) == elsewhere
    assert not transformed_links(text, {}, Seen(frozenset((("another.py", 13),))), OWN).of(7)


def test_the_head_of_a_function_stands_for_where_the_users_begins_or_goes_on() -> None:
    assert transformed_links(TRANSFORMED, PLACES, Seen(at(13)), ("toy.py", 14)).of(2) == at(14)


WITH_OFFSETS = """\
toy, line 11
 11           0 RESUME                   0

 12           2 LOAD_FAST                0 (a)
        >>    4 LOAD_GLOBAL              1 (NULL + torch)

inner, line 14
 14           0 RESUME                   0
"""
WITHOUT_OFFSETS = """\
toy, line 11
 11           RESUME                   0

 12           LOAD_FAST                0 (a)
      L1:     LOAD_GLOBAL              1 (torch + NULL)

  --          RERAISE                  1
"""


def test_an_instruction_came_from_the_line_of_its_block() -> None:
    links = bytecode_links(WITH_OFFSETS, at, "")
    assert [links.of(number) for number in (2, 4, 5, 8)] == [at(11), at(12), at(12), at(14)]
    links = bytecode_links(WITHOUT_OFFSETS, at, "")
    assert [links.of(number) for number in (2, 4, 5, 7)] == [at(11), at(12), at(12), frozenset()]


DYNAMO = """\
toy, line 11
 11           0 RESUME                   0
              2 LOAD_GLOBAL              7 (NULL + __compiled_fn_1)
             14 LOAD_FAST                0 (a)

 13         102 POP_JUMP_FORWARD_IF_FALSE   101 (to 306)
            104 BUILD_LIST               0
"""


STANDS_FOR = (((2, 4), (3, 4), (4, 6)),)
"""Instructions 2 and 3 stand for line 4 of the source, and 4 for line 6."""


def test_what_dynamo_wrote_came_from_where_the_lines_came_from_that_it_stands_for() -> None:
    lines = {4: at(12), 6: at(13)}
    links = dynamo_links(DYNAMO, STANDS_FOR, lambda line: lines[line], {1: at(12, 13)})
    assert [links.of(number) for number in range(2, 8)] == [
        *(frozenset(), at(12, 13), at(12), frozenset()),
        *(at(12), at(13)),
    ]


def test_what_dynamo_wrote_is_not_given_the_line_that_the_table_carries_on() -> None:
    links = dynamo_links(DYNAMO, (), at, {})
    assert not links.lines and "the proof links it to no line" in links.note


NEWER = """\
toy, line 3
  --           MAKE_CELL                0 (a)

   3           RESUME                   0

   4   L1:     LOAD_FAST                0 (a)
               NOT_TAKEN
ExceptionTable:
  L1 to L2 -> L3 [1] lasti

inner, line 9
   9           RETURN_VALUE
"""


def test_instructions_are_counted_in_listings_of_each_release() -> None:
    links = dynamo_links(NEWER, (((0, 1), (2, 12), (3, 13)), ((0, 14),)), at, {})
    assert {number: links.of(number) for number in links.lines} == {2: at(1), 6: at(12), 7: at(13), 12: at(14)}


WRAPPER = """\
def _runtime_wrapper(_compiled_fn_, args):
    orig_inputs = {1: args[1]}
    all_outs = _compiled_fn_(args)
    fw_outs = all_outs[1:]
    _mark_dynamic_(fw_outs[0], dims)
    return args[7]
"""
OF_GRAPH = GraphPlaces(at(11, 12, 13), (at(11), at(12)), (at(13),))


def test_a_wrapper_calls_its_graph_and_names_inputs_and_outputs_by_number() -> None:
    links = wrapper_links(WRAPPER, Wrapped(OF_GRAPH))
    assert dict(links.lines) == {2: at(12), 3: at(11, 12, 13), 5: at(13)}


def test_inputs_that_were_counted_anew_are_not_linked() -> None:
    links = wrapper_links(WRAPPER, Wrapped(OF_GRAPH, is_in_order=False))
    assert dict(links.lines) == {3: at(11, 12, 13), 5: at(13)}


def test_gradients_are_those_of_outputs_where_there_are_as_many() -> None:
    text = "def p(flat_args):\n    if len(flat_args) != 1: pass\n    g = [flat_args[0]]\n    _impl_()\n"
    assert dict(wrapper_links(text, Wrapped(OF_GRAPH, at(20))).lines) == {3: at(13), 4: at(20)}
    others = wrapper_links(text.replace("!= 1", "!= 2"), Wrapped(OF_GRAPH, at(20)))
    assert dict(others.lines) == {4: at(20)}


SOURCE = textwrap.dedent(
    """\
    import torch

    class Model:
        def forward(self, x):
            def inner():
                return x
            return inner()

    @decorator
    def step(model):
        return model()

    step(1)
    """
)


def test_the_function_around_each_line_is_shown_once_and_that_which_was_compiled_first() -> None:
    source_blocks = blocks("a.py", SOURCE, [6, 7, 11], first=10)
    assert [(block.name, block.first, block.last) for block in source_blocks] == [
        ("step", 9, 11),
        ("Model.forward", 4, 7),
    ]


def test_a_line_outside_of_functions_is_shown_with_a_few_around_it() -> None:
    assert [(block.name, block.first, block.last) for block in blocks("a.py", SOURCE, [13])] == [("", 11, 13)]


def test_a_source_that_is_no_python_is_shown_around_its_lines() -> None:
    assert [(block.first, block.last) for block in blocks("a.py", "a (\nb\nc\nd\n", [4])] == [(2, 4)]


def test_a_statement_that_changes_an_object_came_from_the_lines_of_its_comment() -> None:
    text = "def f(a):\n    a[:] = [1]  # :5 a.append(b)   :7 a.pop()\n    b[:] = [2]  # lib.py:9 b.append(1)\n"
    assert transformed_links(text, {}, Seen(), OWN).of(2) == at(5, 7)


def test_a_change_that_another_file_makes_is_linked_to_the_line_that_torch_named_there() -> None:
    text = "def f(a):\n    a[:] = [1]  # :5 a.append(b)   lib.py:9 a.pop()\n    b[:] = [2]  # lib.py:8 b.append(1)\n"
    named = frozenset((("pack/lib.py", 9), ("pack/glib.py", 8)))
    links = transformed_links(text, {}, Seen(changes=named), OWN)
    assert links.of(2) == at(5) | {("pack/lib.py", 9)}
    assert not links.of(3)


def test_what_is_fetched_for_a_change_is_there_for_the_lines_that_make_it() -> None:
    text = "def f(a):\n    box_2 = box\n    other = box\n    put(box_2, 'n', 1)  # :16 box.n += 1\n    return other\n"
    links = transformed_links(text, {}, Seen(), OWN)
    assert links.of(2) == links.of(4) == at(16)
    assert not links.of(3) and not links.of(5)


RUNNABLE_PROGRAM = """\
import os
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, arg0_1, never):
        abs_1 = torch.ops.aten.abs.default(arg0_1);  arg0_1 = None
        add = torch.ops.aten.add.Tensor(abs_1, 1);  abs_1 = None
        return (add,)

def load_args(reader):
    buf0 = reader.storage(None, 40)
    reader.tensor(buf0, (10,), is_leaf=True)  # arg0_1
    reader.symint(8)  # never
"""
LOWERED = """\
class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[10]", never: "Sym(s0)"):
        # File: /home/me/toy.py:12 in toy, code: x = a.abs()
        abs_1: "f32[10]" = torch.ops.aten.abs.default(arg0_1);  arg0_1 = None
        # File: /home/me/toy.py:13 in toy, code: x + 1
        add: "f32[10]" = torch.ops.aten.add.Tensor(abs_1, 1);  abs_1 = None
        return (add,)
"""


def test_the_program_that_runs_a_graph_alone_has_the_links_of_the_graph_with_its_nodes() -> None:
    other = LOWERED.replace("abs_1", "abs_2")
    links = runnable_links(RUNNABLE_PROGRAM, [(text, graph_links(text, NAMES)) for text in (other, LOWERED)])
    assert dict(links.lines) == {6: at(12), 7: at(13), 8: at(13), 11: at(12), 12: at(12)}


def test_a_program_whose_graph_nobody_showed_is_not_linked() -> None:
    links = runnable_links(RUNNABLE_PROGRAM, [(GRAPH, graph_links(GRAPH, NAMES))])
    assert not links.lines and links.note == ANOTHER


METADATA = """\
ViewAndMutationMeta(input_info=[InputAliasInfo(is_leaf=True,
                                               mutates_data=False),
                                InputAliasInfo(is_leaf=True,
                                               mutates_data=True)],
                    output_info=[OutputAliasInfo(base_idx=None)],
                    num_intermediate_bases=0)
"""


def test_what_tells_of_one_input_or_output_is_linked_by_its_place() -> None:
    assert dict(metadata_links(METADATA, OF_GRAPH).lines) == {1: at(11), 2: at(11), 3: at(12), 4: at(12), 5: at(13)}
    under_the_bracket = METADATA.replace(
        "                                Input", "                               Input"
    )
    assert metadata_links(under_the_bracket, OF_GRAPH) == metadata_links(METADATA, OF_GRAPH)


def test_metadata_of_another_number_of_inputs_is_not_linked() -> None:
    more = GraphPlaces(at(11, 12, 13), (at(11), at(12), at(13)), (at(13),))
    assert dict(metadata_links(METADATA, more).lines) == {5: at(13)}
