"""Values that reach a kernel by another way than its nodes: reversed, placed among zeros, joined, in a list."""

from __future__ import annotations

import pytest

from depyf.links.inductor.graph import read_graph
from depyf.links.inductor.line import Launched
from depyf.links.inductor.lines import launched
from depyf.links.inductor.module import read_module

BODY = """
import triton
@triton_heuristics.pointwise(triton_meta={})
@triton.jit
def k0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
%s
"""


def module(*bodies: tuple[str, ...], call: str) -> str:
    head_lines = [
        f"k{number} = async_compile.triton('k{number}', '''{BODY.replace('k0', f'k{number}') % _indented(rows)}''')"
        for number, rows in enumerate(bodies)
    ]
    return "\n".join([*head_lines, "def call(args):", *(f"    {row}" for row in call.splitlines())])


def _indented(rows: tuple[str, ...]) -> str:
    return "\n".join(f"    {row}" for row in rows)


def graph(*rows: str, returns: str) -> str:
    head = "class GraphModule(torch.nn.Module):\n    def forward(self, arg0_1: \"f32[4, 8][8, 1]cpu\"):"
    return "\n".join([head, *(f"        {row}" for row in rows), f"        return ({returns},)"])


def linked(text: str, nodes: str) -> dict[str, tuple[str, ...]]:
    launches: list[Launched] = launched(read_module(text), read_graph(nodes), {})
    assert launches
    return {
        f"k{number} {(line.statement.targets or ('store',))[0]}": line.nodes
        for number, launch in enumerate(launches)
        for line in launch.lines
    }


CALL = "buf0 = empty_strided_cpu((4, 8), (8, 1), torch.float32)\nk0.run(arg0_1, buf0, 32, stream=s)"
TAIL = "tl.store(out_ptr0 + (x0), tmp9, xmask)"


def test_what_is_read_backwards_is_the_node_that_reverses() -> None:
    text = module(
        ("tmp0 = tl.load(in_ptr0 + (x0), xmask)", "tmp1 = tl.load(in_ptr0 + (31 + ((-1)*x0)), xmask)")
        + ("tmp2 = triton_helpers.maximum(tmp0, tmp1)", "tmp9 = tl_math.sin(tmp2)", TAIL),
        call=CALL,
    )
    nodes = graph(
        'rev: "f32[4, 8][8, 1]cpu" = torch.ops.prims.rev.default(arg0_1, [0])',
        'maximum: "f32[4, 8][8, 1]cpu" = torch.ops.aten.maximum.default(arg0_1, rev)',
        'sin: "f32[4, 8][8, 1]cpu" = torch.ops.aten.sin.default(maximum)',
        returns="sin",
    )
    assert linked(text, nodes)["k0 tmp2"] == ("maximum",) and linked(text, nodes)["k0 tmp9"] == ("sin",)


PLACED = (
    "tmp0 = (x0).to(tl.int64)",
    "tmp1 = tl.full([1], 7, tl.int64)",
    "tmp2 = tmp0 < tmp1",
    "tmp3 = tl.load(in_ptr0 + (x0), tmp2 & xmask, other=0.0)",
    "tmp4 = tl_math.sin(tmp3)",
    "tmp5 = tl.full(tmp4.shape, 0.0, tmp4.dtype)",
    "tmp6 = tl.where(tmp2, tmp4, tmp5)",
    "tmp7 = tl.full([1], FILL, tl.float32)",
    "tmp8 = tl.where(tmp2, tmp6, tmp7)",
    "tmp9 = tl_math.cos(tmp8)",
    TAIL,
)
SCATTER = graph(
    'full: "f32[4, 8][8, 1]cpu" = torch.ops.aten.full.default([4, 8], 0)',
    'slice_1: "f32[4, 7][8, 1]cpu" = torch.ops.aten.slice.Tensor(arg0_1, 1, 0, 7)',
    'sin: "f32[4, 7][7, 1]cpu" = torch.ops.aten.sin.default(slice_1)',
    'slice_scatter: "f32[4, 8][8, 1]cpu" = torch.ops.aten.slice_scatter.default(full, sin, 1, 0, 7)',
    'cos: "f32[4, 8][8, 1]cpu" = torch.ops.aten.cos.default(slice_scatter)',
    returns="cos",
)


def placed(fill: str = "0.0") -> str:
    return module(tuple(row.replace("FILL", fill) for row in PLACED), call=CALL)


def test_a_part_that_is_placed_among_zeros_is_the_node_that_scatters_it() -> None:
    nodes_of = linked(placed(), SCATTER)
    assert nodes_of["k0 tmp4"] == ("sin",)
    assert nodes_of["k0 tmp6"] == nodes_of["k0 tmp8"] == ("slice_scatter",)
    assert nodes_of["k0 tmp9"] == nodes_of["k0 store"] == ("cos",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.ops.aten.full.default([4, 8], 0)", "torch.ops.aten.full.default([4, 8], 1)"),
        ("slice_scatter.default(full, sin", "slice_scatter.default(full, slice_1"),
        ("aten.cos.default(slice_scatter)", "aten.cos.default(sin)"),
    ],
)
def test_what_is_placed_elsewhere_is_no_such_node(old: str, new: str) -> None:
    assert old in SCATTER
    text = module((*PLACED[:-2], "tmp9 = tl_math.exp(tmp8)", TAIL), call=CALL).replace("FILL", "0.0")
    changed = SCATTER.replace(old, new).replace("aten.cos", "aten.exp")
    whole = linked(text, SCATTER.replace("aten.cos", "aten.exp"))
    assert whole["k0 tmp9"] == ("cos",)
    launches = launched(read_module(text), read_graph(changed), {})[0]
    assert all(not line.computes for line in launches.lines if line.targets == ("tmp9",))


def test_a_value_that_fills_the_rest_is_not_left_out() -> None:
    launches = launched(read_module(placed("1.0")), read_graph(SCATTER), {})[0]
    assert all(not line.computes for line in launches.lines if line.targets in (("tmp8",), ("tmp9",)))


PARTS = """buf2 = empty_strided_cpu((4, 16), (16, 1), torch.float32)
buf0 = reinterpret_tensor(buf2, (4, 8), (16, 1), 0)
k0.run(arg0_1, buf0, 32, stream=s)
buf1 = reinterpret_tensor(buf2, (4, 8), (16, 1), 8)
k1.run(arg0_1, buf1, 32, stream=s)
buf3 = empty_strided_cpu((4, 16), (16, 1), torch.float32)
k2.run(buf2, buf3, 64, stream=s)"""
JOINED = graph(
    'sin: "f32[4, 8][8, 1]cpu" = torch.ops.aten.sin.default(arg0_1)',
    'cos: "f32[4, 8][8, 1]cpu" = torch.ops.aten.cos.default(arg0_1)',
    'cat: "f32[4, 16][16, 1]cpu" = torch.ops.aten.cat.default([sin, cos], -1)',
    'exp: "f32[4, 16][16, 1]cpu" = torch.ops.aten.exp.default(cat)',
    returns="exp",
)


def unary(function: str) -> tuple[str, ...]:
    return ("tmp0 = tl.load(in_ptr0 + (x0), xmask)", f"tmp9 = tl_math.{function}(tmp0)", TAIL)


def test_a_buffer_whose_parts_are_written_is_what_joins_them() -> None:
    text = module(unary("sin"), unary("cos"), unary("exp"), call=PARTS)
    assert linked(text, JOINED)["k2 tmp9"] == ("exp",)
    half = module(unary("sin"), unary("sin"), unary("exp"), call=PARTS)
    launches = launched(read_module(half), read_graph(JOINED), {})[2]
    assert not launches.before and all(not line.computes for line in launches.lines)


def test_the_variance_is_known_by_its_steps() -> None:
    rows = ("tmp0 = tl.load(in_ptr0 + (x0), xmask)", "tmp1 = tl.sum(tmp0, 1)[:, None]")
    rows += ("tmp2 = tl.full([1], 8.0, tl.float32)", "tmp3 = (tmp1 / tmp2)", "tmp4 = tmp0 - tmp3", "tmp5 = tmp4 * tmp4")
    rows += ("tmp6 = tl.sum(tmp5, 1)[:, None]", "tmp7 = tl.full([1], 7.0, tl.float32)", "tmp8 = (tmp6 / tmp7)")
    text = module((*rows, "tmp9 = tl.sqrt_rn(tmp8)", TAIL), call=CALL)
    nodes = graph(
        'var: "f32[4][1]cpu" = torch.ops.aten.var.correction(arg0_1, [1], correction = 1.0)',
        'sqrt: "f32[4][1]cpu" = torch.ops.aten.sqrt.default(var)',
        returns="sqrt",
    )
    nodes_of = linked(text, nodes)
    assert nodes_of["k0 tmp8"] == ("var",) and nodes_of["k0 tmp9"] == ("sqrt",)
    assert linked(text, nodes.replace("correction = 1.0", "correction = 0.0"))["k0 tmp8"] != ("var",)


@pytest.mark.parametrize("parts", ["unbind.int(arg0_1)", "split.Tensor(arg0_1, 2)"])
def test_operations_over_the_parts_of_a_tensor_are_linked(parts: str) -> None:
    rows = ("tmp0 = tl.load(in_ptr0 + (x0), xmask)", "tmp1 = tl.full([1], 2.0, tl.float32)", "tmp9 = tmp0 * tmp1", TAIL)
    nodes = graph(
        f"parts = torch.ops.aten.{parts}",
        'getitem: "f32[8][1]cpu" = parts[0]',
        'getitem_1: "f32[8][1]cpu" = parts[1]',
        "_foreach_mul = torch.ops.aten._foreach_mul.Scalar([getitem, getitem_1], 2.0)",
        'getitem_2: "f32[8][1]cpu" = _foreach_mul[0]',
        'getitem_3: "f32[8][1]cpu" = _foreach_mul[1]',
        returns="getitem_2, getitem_3",
    )
    assert set(linked(module(rows, call=CALL), nodes)["k0 tmp9"]) == {"getitem_2", "getitem_3"}
