"""Lines of kernels are tied to the nodes that they compute, and to no others."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from depyf.links.inductor.evaluate import graph_terms
from depyf.links.inductor.graph import read_graph
from depyf.links.inductor.line import Launched, Line
from depyf.links.inductor.lines import launched, origins_of_lines
from depyf.links.inductor.module import Buffer, Kernel, Launch, read_module
from depyf.links.inductor.statements import Statement
from depyf.links.inductor.suspects import suspect
from depyf.links.inductor.terms import Terms

HERE = Path(__file__).parent

SOFTMAX = """
def forward(self, arg0_1: "f32[16, 32][32, 1]cuda:0", arg1_1: "f32[32][1]cuda:0"):
    mul: "f32[16, 32][32, 1]cuda:0" = torch.ops.aten.mul.Tensor(arg0_1, arg1_1)
    amax: "f32[16, 1][1, 1]cuda:0" = torch.ops.aten.amax.default(mul, [-1], True)
    sub: "f32[16, 32][32, 1]cuda:0" = torch.ops.aten.sub.Tensor(mul, amax)
    exp: "f32[16, 32][32, 1]cuda:0" = torch.ops.aten.exp.default(sub)
    sum_1: "f32[16, 1][1, 1]cuda:0" = torch.ops.aten.sum.dim_IntList(exp, [-1], True)
    div: "f32[16, 32][32, 1]cuda:0" = torch.ops.aten.div.Tensor(exp, sum_1)
    return (div,)
"""

MEAN = """
def forward(self, arg0_1: "f32[16, 32][32, 1]cpu"):
    exp: "f32[16, 32][32, 1]cpu" = torch.ops.aten.exp.default(arg0_1)
    mean: "f32[16][1]cpu" = torch.ops.aten.mean.dim(exp, [1])
    select: "f32[16][32]cpu" = torch.ops.aten.select.int(arg0_1, 1, 0)
    gt: "b8[16][1]cpu" = torch.ops.aten.gt.Scalar(select, 0)
    where: "f32[16][1]cpu" = torch.ops.aten.where.self(gt, mean, select)
    return (mean, where)
"""


def read(name: str, graph: str) -> Launched:
    (launch,) = launched(read_module((HERE / name).read_text(encoding="utf-8")), read_graph(graph), {})
    return launch


def computed(launch: Launched) -> dict[str, tuple[str, ...]]:
    """Return by the variable that a line sets, or `store`, what it computes."""
    return {line.statement.targets[0] if line.statement.targets else "store": line.computes for line in launch.lines}


def test_a_triton_kernel_is_read_with_its_launch() -> None:
    module = read_module((HERE / "module_triton.txt").read_text(encoding="utf-8"))
    (launch,) = module.launches
    assert launch.arguments == ("arg0_1", "arg1_1", "buf2", "16", "32")
    assert launch.handle == "triton_per_fused_softmax_0:1"
    assert launch.values[2] == Buffer("buf2", (16, 32), (32, 1), 0, "float32")
    assert module.kernels["triton_per_fused_softmax_0"].text.splitlines()[1] == "import triton"


def test_lines_of_a_triton_kernel_compute_nodes() -> None:
    launch = read("module_triton.txt", SOFTMAX)
    assert {name: nodes for name, nodes in computed(launch).items() if nodes} == {
        "tmp2": ("mul",),
        "tmp5": ("mul",),
        "tmp6": ("amax",),
        "tmp7": ("sub",),
        "tmp8": ("exp",),
        "tmp11": ("exp",),
        "tmp12": ("sum_1",),
        "tmp13": ("div",),
        "store": ("div",),
    }
    assert launch.before == {"in_ptr0": "arg0_1", "in_ptr1": "arg1_1"}
    assert launch.after == {"out_ptr2": "div"}


def test_loads_serve_the_nodes_that_need_them() -> None:
    lines = {line.statement.targets[0]: line for line in read("module_triton.txt", SOFTMAX).lines[:-1]}
    assert lines["tmp0"].serves == lines["tmp1"].serves == ("mul",)
    assert lines["tmp3"].serves == ("mul",)


AFTER = ["tmp2", "tmp5", "tmp6", "tmp7", "tmp8", "tmp11", "tmp12", "tmp13", "store"]


@pytest.mark.parametrize(
    ("old", "new", "first"),
    [
        ("aten.exp.default(sub)", "aten.exp2.default(sub)", "tmp8"),
        ("aten.sub.Tensor(mul, amax)", "aten.sub.Tensor(amax, mul)", "tmp7"),
        ("aten.amax.default", "aten.amin.default", "tmp6"),
        ("(arg0_1, arg1_1)\n", "(arg0_1, arg0_1)\n", "tmp2"),
    ],
)
def test_a_line_is_not_tied_to_a_node_that_computes_something_else(old: str, new: str, first: str) -> None:
    assert old in SOFTMAX
    whole = computed(read("module_triton.txt", SOFTMAX))
    changed = computed(read("module_triton.txt", SOFTMAX.replace(old, new)))
    lost = AFTER[AFTER.index(first) :]
    assert [name for name in AFTER if whole[name] != changed[name]] == lost
    assert not any(changed[name] for name in lost)


def test_a_mean_is_computed_in_two_loops_of_cpp() -> None:
    launch = read("module_cpp.txt", MEAN)
    lines = [(line.statement.targets, line.computes, line.serves) for line in launch.lines]
    assert (("tmp1",), ("exp",), ()) in lines
    assert (("tmp_acc0_vec",), (), ("mean",)) in lines
    assert (("tmp3",), ("mean",), ()) in lines
    assert (("tmp5",), ("where",), ()) in lines
    # It stores a sum there, and the module returns that in the place of the mean: what it should hold is known.
    assert launch.after == {"in_out_ptr0": "mean", "out_ptr1": "where"}


def test_lines_of_the_module_come_from_the_places_of_their_nodes() -> None:
    launch = read("module_triton.txt", SOFTMAX)
    places = {"mul": frozenset({("a.py", 3)}), "exp": frozenset({("a.py", 4)})}
    text = (HERE / "module_triton.txt").read_text(encoding="utf-8").splitlines()
    lines = {text[number - 1].strip(): origins for number, origins in origins_of_lines([launch], places).items()}
    assert lines["tmp2 = tmp0 * tmp1"] == frozenset({("a.py", 3)})
    assert lines["tmp8 = libdevice.exp(tmp7)"] == frozenset({("a.py", 4)})
    assert not lines["tmp13 = (tmp8 / tmp12)"]


def test_text_that_is_no_module_has_no_kernels() -> None:
    assert not read_module("not python").kernels
    assert not read_graph("not python").nodes


@pytest.mark.parametrize(
    ("old", "new", "node"),
    [
        ("tmp2 = tmp0 * tmp1", "tmp2 = tmp0 + tmp1", "mul"),
        ("tmp7 = tmp2 - tmp6", "tmp7 = tmp2 + tmp6", "sub"),
        ("libdevice.exp(tmp7)", "libdevice.exp2(tmp7)", "exp"),
        ("tmp13 = (tmp8 / tmp12)", "tmp13 = (tmp8 * tmp12)", "div"),
    ],
)
def test_a_changed_line_is_the_first_that_is_there_for_no_node(old: str, new: str, node: str) -> None:
    text = (HERE / "module_triton.txt").read_text(encoding="utf-8")
    graph = read_graph(SOFTMAX)
    (whole,) = launched(read_module(text), graph, {})
    assert suspect(whole, graph) is None
    assert old in text
    (changed,) = launched(read_module(text.replace(old, new)), graph, {})
    suspected = suspect(changed, graph)
    assert suspected is not None
    assert changed.kernel.text.splitlines()[suspected.line.statement.line - 1].strip().endswith(new)
    assert suspected.node == node


POSITIONS = """
def forward(self, arg0_1: "i64[8][1]cpu", arg1_1: "f32[100, 32][32, 1]cpu", arg2_1: "f32[64, 32][32, 1]cpu"):
    embedding: "f32[8, 32][32, 1]cpu" = torch.ops.aten.embedding.default(arg1_1, arg0_1)
    iota: "i64[8][1]cpu" = torch.ops.prims.iota.default(8, start = 0, step = 1, dtype = torch.int64)
    add: "i64[8][1]cpu" = torch.ops.aten.add.Tensor(iota, 0)
    embedding_1: "f32[8, 32][32, 1]cpu" = torch.ops.aten.embedding.default(arg2_1, add)
    add_1: "f32[8, 32][32, 1]cpu" = torch.ops.aten.add.Tensor(embedding, embedding_1)
    exp: "f32[8, 32][32, 1]cpu" = torch.ops.aten.exp.default(add_1)
    return (exp,)
"""


def terms_of(graph: str) -> tuple[Terms, dict[str, int]]:
    terms = Terms()
    return terms, graph_terms(read_graph(graph), terms)[0]


def test_rows_in_their_order_are_the_table_itself() -> None:
    terms, terms_of_nodes = terms_of(POSITIONS)
    assert terms_of_nodes["embedding_1"] == terms_of_nodes["arg2_1"]
    assert terms_of_nodes["embedding"] == terms.of("indexed", terms_of_nodes["arg1_1"], terms_of_nodes["arg0_1"])
    _, shifted = terms_of(POSITIONS.replace("start = 0", "start = 2"))
    assert shifted["embedding_1"] != shifted["arg2_1"]


def test_a_line_that_may_be_of_another_node_is_linked_only_where_both_are_of_one_place() -> None:
    statement = Statement(1, ("tmp2",), ast.parse("tmp0 + tmp1", mode="eval").body)
    line = Line(statement, None, (), ("exp",), ("add_1",))
    launch = Launched(Launch("k", "k:1", 1, (), ()), Kernel("k", "cpp", "", 1), (), [line])
    exp, add = frozenset({("f.py", 4)}), frozenset({("f.py", 3)})
    assert origins_of_lines([launch], {"exp": exp, "add_1": add}) == {1: frozenset()}
    assert origins_of_lines([launch], {"exp": exp, "add_1": exp}) == {1: exp}


@pytest.mark.parametrize(
    ("value", "operations"),
    [
        ("tmp0 >= tmp1", {"ge"}),
        ("tmp0 == tmp1", {"eq"}),
        ("tmp0 & (tmp1 < tmp2)", {"bitwise_and", "logical_and", "lt"}),
        ("~tmp0", {"bitwise_not", "logical_not"}),
        ("-tmp0 * tmp1", {"neg", "mul"}),
        ("decltype.blendv(tmp0, tmp1, tmp2)", {"where"}),
        ("tmp0 if tmp1 else tmp2", {"where"}),
        ("load(in_ptr0 + x0)", {"load", "add"}),
    ],
)
def test_a_statement_has_the_operations_as_a_graph_calls_them(value: str, operations: set[str]) -> None:
    assert Statement(1, ("tmp9",), ast.parse(value, mode="eval").body).operations == operations


MASKED = """
def forward(self, arg0_1: "f32[8, 4][4, 1]cpu", arg1_1: "b8[8, 4][4, 1]cpu"):
    iota: "i64[8][1]cpu" = torch.ops.prims.iota.default(8, start = 0, step = 1, dtype = torch.int64)
    view: "i64[8, 1][1, 1]cpu" = torch.ops.aten.reshape.default(iota, [8, 1])
    ge: "b8[8, 1][1, 1]cpu" = torch.ops.aten.ge.Scalar(view, 0)
    bitwise_and: "b8[8, 4][4, 1]cpu" = torch.ops.aten.bitwise_and.Tensor(ge, opaque)
    where: "f32[8, 4][4, 1]cpu" = torch.ops.aten.where.self(bitwise_and, zero, arg0_1)
    add: "f32[8, 4][4, 1]cpu" = torch.ops.aten.add.Tensor(arg0_1, where)
    return (add,)
"""
MASK = """
cpp_fused_add_0 = async_compile.cpp_pybinding(['const float*', 'const bool*', 'float*'], r'''
extern "C"  void  kernel(const float* in_ptr0, const bool* in_ptr1, float* out_ptr0)
{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(8L); x0+=static_cast<int64_t>(1L))
    {
        auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];
        auto tmp1 = x0;
        auto tmp2 = static_cast<int64_t>(0);
        auto tmp3 = tmp1 >= tmp2;
        auto tmp4 = in_ptr1[static_cast<int64_t>(x0)];
        auto tmp5 = tmp3 & tmp4;
        auto tmp6 = tmp5 ? tmp2 : tmp0;
        auto tmp7 = tmp0 + tmp6;
        out_ptr0[static_cast<int64_t>(x0)] = tmp7;
    }
}
''')

def call(args):
    arg0_1, arg1_1 = args
    buf0 = empty_strided_cpu((8, 4), (4, 1), torch.float32)
    # [Provenance debug handles] cpp_fused_add_0:1
    cpp_fused_add_0(arg0_1, arg1_1, buf0)
    return (buf0, )
"""


def test_a_comparison_that_may_be_a_node_is_not_of_what_needs_it() -> None:
    nodes = ("iota", "view", "ge", "bitwise_and", "where", "add")
    (launch,) = launched(read_module(MASK), read_graph(MASKED), {"cpp_fused_add_0:1": nodes})
    places = {name: frozenset({("f.py", number)}) for number, name in enumerate(nodes, start=1)}
    of = origins_of_lines([launch], places)
    text = MASK.splitlines()
    linked = {text[number - 1].split()[1]: of[number] for number in of if text[number - 1].split()[0] == "auto"}
    for name in ("tmp1", "tmp3"):
        assert not linked.get(name) or linked[name] <= places["ge"] | places["iota"]


OF_HALVES = """
def forward(self, arg0_1: "f32[2, 8][8, 1]cpu"):
    unbind = torch.ops.aten.unbind.int(arg0_1)
    getitem: "f32[8][1]cpu" = unbind[0]
    getitem_1: "f32[8][1]cpu" = unbind[1]
    neg: "f32[8][1]cpu" = torch.ops.aten.neg.default(getitem)
    neg_1: "f32[8][1]cpu" = torch.ops.aten.neg.default(getitem_1)
    mm: "f32[8][1]cpu" = torch.ops.aten.mm.default(neg, neg_1)
    return (RETURNED,)
"""
HALVES = """
cpp_fused_neg_0 = async_compile.cpp_pybinding(['const float*', 'float*', 'float*'], r'''
extern "C"  void  kernel(const float* in_ptr0, float* out_ptr0, float* out_ptr1)
{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(8L); x0+=static_cast<int64_t>(1L))
    {
        auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];
        auto tmp1 = -tmp0;
        out_ptr0[static_cast<int64_t>(x0)] = tmp1;
    }
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(8L); x0+=static_cast<int64_t>(1L))
    {
        auto tmp0 = in_ptr0[static_cast<int64_t>(8L + x0)];
        auto tmp1 = -tmp0;
        out_ptr1[static_cast<int64_t>(x0)] = tmp1;
    }
}
''')

def call(args):
    arg0_1, = args
    buf0 = empty_strided_cpu((8, ), (1, ), torch.float32)
    buf1 = empty_strided_cpu((8, ), (1, ), torch.float32)
    # [Provenance debug handles] cpp_fused_neg_0:1
    cpp_fused_neg_0(arg0_1, buf0, buf1)
    return (RETURNED, )
"""


@pytest.mark.parametrize(
    ("nodes", "buffers", "after"),
    [("mm", "buf2", ["", ""]), ("neg, neg_1", "buf0, buf1", ["neg", "neg_1"])],
    ids=["neither is returned", "both are"],
)
def test_results_of_two_parts_are_told_apart_by_what_the_graph_returns_alone(
    nodes: str, buffers: str, after: list[str]
) -> None:
    graph = read_graph(OF_HALVES.replace("RETURNED", nodes))
    computed = {"cpp_fused_neg_0:1": ("neg", "neg_1")}
    (launch,) = launched(read_module(HALVES.replace("RETURNED", buffers)), graph, computed)
    assert [launch.after.get(name, "") for name in ("out_ptr0", "out_ptr1")] == after
