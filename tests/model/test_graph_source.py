"""A graph's file is Python, whatever torch printed."""

from __future__ import annotations

import ast

from depyf.model.artifacts.graph_source import graph_file, user_lines

GRAPH = """\
class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[10][1]cpu"):
        # File: toy.py:3 in toy, code: x = a / (torch.abs(a) + 1)
        abs_1: "f32[10][1]cpu" = torch.ops.aten.abs.default(arg0_1)
        full = torch.ops.aten.full.default([10], -inf, device=device(type='cpu'))
        # File: toy.py:4 in toy, code: if b.sum() < 0:
        add = torch.ops.aten.add.Tensor(abs_1, full)
        # File: toy.py:3 in toy, code: x = a / (torch.abs(a) + 1)
        return (add,)
"""


def test_the_names_it_needs_are_imported() -> None:
    file = graph_file(GRAPH, ["Forward graph"])
    assert file.reason == ""
    assert file.text.startswith("# Forward graph\n")
    assert "from torch import device\n" in file.text
    assert "from torch import inf\n" in file.text
    assert "class GraphModule(torch.nn.Module):" in file.text
    ast.parse(file.text)


def test_a_name_that_nobody_knows_is_said() -> None:
    file = graph_file(GRAPH.replace("-inf", "mystery"), [])
    assert "mystery" in file.text.split("class")[0]


def test_what_is_no_python_is_kept_as_text() -> None:
    text = "class M(torch.nn.Module):\n    def forward(self):\n        x = <object at 0x7f>\n"
    file = graph_file(text, ["Captured Graph"])
    assert "not Python" in file.reason
    module = ast.parse(file.text)
    assignment = module.body[-1]
    assert isinstance(assignment, ast.Assign)
    assert ast.literal_eval(assignment.value) == text + "\n"


def test_the_users_lines_each_once_in_order() -> None:
    lines = user_lines(GRAPH)
    assert [(line.line, line.text) for line in lines] == [(3, "x = a / (torch.abs(a) + 1)"), (4, "if b.sum() < 0:")]
    assert lines[0].function == "toy"


def test_the_graphs_inside_of_a_graph_become_modules() -> None:
    text = (
        "class GraphModule(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        inner = self.inner\n"
        "        return (inner(x) + self.weight,)\n"
        "    class inner(torch.nn.Module):\n"
        "        def forward(self, x):\n"
        "            return self.deep(x)\n"
        "        class deep(torch.nn.Module):\n"
        "            def forward(self, x):\n"
        "                return x * 2\n"
    )
    file = graph_file(text, []).text
    assert file.endswith(
        "\n\n# The process has to set, as they are in no text: weight\n"
        "GraphModule.inner.deep = GraphModule.inner.deep()\n"
        "GraphModule.inner = GraphModule.inner()\n"
    )


NAMELESS = """\
class <lambda>(torch.nn.Module):
    def forward(self, x, w):
        weight = self.weight
        true_graph_0 = self.true_graph_0
        false_graph_0 = self.false_graph_0
        cond = torch.ops.higher_order.cond(w, true_graph_0, false_graph_0, [x, weight])
        return (cond[0],)

    class <lambda>(torch.nn.Module):
        def forward(self, x, w):
            return (x,)

    class <lambda>(torch.nn.Module):
        def forward(self, x, w):
            return (w,)
"""


def test_graphs_without_a_name_are_named_as_they_are_called() -> None:
    file = graph_file(NAMELESS, [])
    assert file.reason == ""
    assert [line for line in file.text.splitlines() if line.lstrip().startswith(("class ", "# The", "GraphM"))] == [
        "class GraphModule(torch.nn.Module):",
        "    class true_graph_0(torch.nn.Module):",
        "    class false_graph_0(torch.nn.Module):",
        "# The process has to set, as they are in no text: weight",
        "GraphModule.false_graph_0 = GraphModule.false_graph_0()",
        "GraphModule.true_graph_0 = GraphModule.true_graph_0()",
    ]


def test_graphs_of_which_it_is_not_known_who_is_who_keep_their_names() -> None:
    file = graph_file(NAMELESS.replace("true_graph_0, false_graph_0, [", "true_graph_0, ["), [])
    assert file.text.count("    class GraphModule(torch.nn.Module):") == 2


def test_what_a_text_asks_of_self_is_neither_in_strings_nor_in_comments() -> None:
    text = """
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2]", inner_self: "f32[2]"):
        # File: a.py:3 in f, code: return self.of_a_comment(x)
        y: "f32[2]" = x.add("self.of_a_string", 'it is \\'self.quoted', inner_self.data, self.held);  x = None
        return (self.inside(y), [each for each in unknown])

    class inside(torch.nn.Module):
        def forward(self, z):
            return self._constant0
"""
    file = graph_file(text, []).text
    assert "# Names that torch's printer does not explain: unknown" in file
    (missing,) = (line for line in file.splitlines() if line.startswith("# The process has to set"))
    assert missing.endswith(": held, _constant0")
    assert file.endswith("GraphModule.inside = GraphModule.inside()\n")
