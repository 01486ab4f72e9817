"""The contents of buffers are followed through Inductor's comments, scatters and the kernels of libraries."""

from __future__ import annotations

import pytest

from depyf.links.inductor.graph import Graph, read_graph
from depyf.links.inductor.line import Launched
from depyf.links.inductor.lines import launched
from depyf.links.inductor.module import Kernel, Module, read_module
from depyf.links.inductor.statements import statements
from depyf.torch.kernels.standalone import Told, standalone

HEAD = """
@triton_heuristics.pointwise(triton_meta={'signature': {%s}})
@triton.jit
def %s(%s, xnumel, XBLOCK : tl.constexpr):
    x0 = xoffset + tl.arange(0, XBLOCK)[:]
"""


def kernel(name: str, fragment: str, parameters: str, *body: str) -> str:
    """Return the definition of a kernel in a module, below the comment that Inductor writes above it."""
    types = ", ".join(f"'{parameter}': '*fp32'" for parameter in parameters.split(", "))
    lines = "".join(f"    {statement}\n" for statement in body)
    said = "".join(f"#   {node_line}\n" for node_line in fragment.splitlines())
    text = HEAD % (types, name, parameters) + lines
    return f"# Graph fragment:\n{said}{name} = async_compile.triton('{name}', '''{text}''')\n"


def module(kernels: str, *calls: str) -> Module:
    """Return a module with some kernels and the statements of its call."""
    buffers = [f"buf{index} = empty_strided_cpu((16, 32), (32, 1), torch.float32)" for index in range(3)]
    sizes = ["assert_size_stride(arg0_1, (16, 32), (32, 1))", "assert_size_stride(arg1_1, (16, ), (1, ))"]
    body = "".join(f"    {row}\n" for row in ("arg0_1, arg1_1 = args", *sizes, *buffers, *calls))
    return read_module(f"{kernels}\ndef call(args):\n{body}")


def graph(*nodes: str, returned: str = "") -> Graph:
    head = 'def forward(self, arg0_1: "f32[16, 32][32, 1]cpu", arg1_1: "i64[16][1]cpu"):\n'
    return read_graph(head + "".join(f"    {node}\n" for node in nodes) + f"    return ({returned},)\n")


def names(launch: Launched) -> tuple[dict[str, str], dict[str, str]]:
    return launch.before, launch.after


COMPUTED = '%{name} : Tensor "f32[16, 32][32, 1]cpu"[num_users=1] = call_function[target=aten.{op}](args = ())'
LOAD, STORE = "tmp0 = tl.load(in_ptr0 + (x0))", "tl.store(out_ptr0 + (x0), tmp1)"


def test_a_kernel_computes_the_nodes_in_its_comment_not_another_node_with_the_same_value() -> None:
    maxima = graph(
        'amax: "f32[16, 1][1, 1]cpu" = torch.ops.aten.amax.default(arg0_1, [1], True)',
        'amax_1: "f32[16, 1][1, 1]cpu" = torch.ops.aten.amax.default(arg0_1)',
        returned="amax, amax_1",
    )
    said = f"{COMPUTED.format(name='amax_1', op='amax.default')}\nreturn %amax_1"
    source = kernel("k", said, "in_ptr0, out_ptr0", LOAD, "tmp1 = triton_helpers.max2(tmp0, 1)", STORE)
    (launch,) = launched(module(source, "k.run(arg0_1, buf0, 512)"), maxima, {})
    assert names(launch) == ({"in_ptr0": "arg0_1"}, {"out_ptr0": "amax_1"})


def test_a_result_in_another_order_is_the_node_that_copies() -> None:
    moved = graph(
        'mul: "f32[16, 32][32, 1]cpu" = torch.ops.aten.mul.Tensor(arg0_1, 2)',
        'permute: "f32[32, 16][1, 32]cpu" = torch.ops.aten.permute.default(mul, [1, 0])',
        'clone: "f32[32, 16][16, 1]cpu" = torch.ops.aten.clone.default(permute)',
        returned="clone",
    )
    comments = [COMPUTED.format(name=name, op=f"{name}.default") for name in ("mul", "permute", "clone")]
    source = kernel("k", "\n".join([*comments, "return %clone"]), "in_ptr0, out_ptr0", LOAD, "tmp1 = tmp0 * 2.0", STORE)
    read = module(source, "buf3 = empty_strided_cpu((32, 16), (16, 1), torch.float32)", "k.run(arg0_1, buf3, 512)")
    (launch,) = launched(read, moved, {})
    assert launch.after == {"out_ptr0": "clone"}
    assert "EXPECTED = {'out_ptr0': ('clone', 0.0001)}" in standalone(launch, read, moved, Told("", {}))


SCATTERED = graph(
    'full: "f32[16, 32][32, 1]cpu" = torch.ops.aten.full.default([16, 32], 0)',
    'sin: "f32[16, 32][32, 1]cpu" = torch.ops.aten.sin.default(arg0_1)',
    'index_put: "f32[16, 32][32, 1]cpu" = torch.ops.aten.index_put.default(full, [arg1_1], sin, True)',
    'exp: "f32[16, 32][32, 1]cpu" = torch.ops.aten.exp.default(index_put)',
    returned="exp",
)


def test_an_atomic_store_gives_the_node_that_scatters_and_reads_its_target() -> None:
    comments = [COMPUTED.format(name=name, op=f"{name}.default") for name in ("full", "sin", "index_put")]
    fills = "\n".join([*comments, "return %index_put"])
    zeros = kernel("zeros", fills, "out_ptr0", "tmp1 = tl.full([1], 0, tl.float32)", STORE)
    index = "tmp2 = tl.load(in_ptr1 + (x0 // 32))"
    body = (LOAD, index, "tmp1 = tl_math.sin(tmp0)", "tl.atomic_add(out_ptr0 + (x0 + 32*tmp2), tmp1)")
    add = kernel("add", "\n".join([*comments, "return %buf0"]), "in_ptr0, in_ptr1, out_ptr0", *body)
    read = module(zeros + add, "zeros.run(buf0, 512)", "add.run(arg0_1, arg1_1, buf0, 512)")
    filled, launch = launched(read, SCATTERED, {})
    assert names(filled)[1] == {"out_ptr0": "full"}
    assert names(launch)[1] == {"out_ptr0": "index_put"}
    assert (launch.before["out_ptr0"], "out_ptr0" in launch.reads) == ("full", True)
    text = standalone(launch, read, SCATTERED, Told("", {}))
    assert "full = given['out_ptr0']" in text and "return {'out_ptr0': index_put}" in text


def test_all_lines_of_a_launch_that_computes_one_node_serve_the_node() -> None:
    turned = graph(
        'mul: "f32[16, 32][32, 1]cpu" = torch.ops.aten.mul.Tensor(arg0_1, 2)',
        'rev: "f32[16, 32][32, 1]cpu" = torch.ops.prims.rev.default(mul, [1])',
        returned="rev",
    )
    load = "tmp1 = tl.load(in_ptr0 + (31 + ((-1)*x0)))"
    first = kernel("one", "return %mul", "in_ptr0, out_ptr0", LOAD, "tmp1 = tmp0 * 2.0", STORE)
    for name, served in (("rev", ("rev",)), ("rev_2", ())):
        comment = COMPUTED.format(name=name, op="rev.default")
        two = kernel("two", f"{comment}\nreturn %{name}", "in_ptr0, out_ptr0", load, STORE)
        _, launch = launched(module(first + two, "one.run(arg0_1, buf0, 512)", "two.run(buf0, buf1, 512)"), turned, {})
        assert [line.nodes for line in launch.lines] == [served, served]


TOPK = graph(
    "topk = torch.ops.aten.topk.default(arg0_1, 3)",
    'getitem: "f32[16, 3][3, 1]cpu" = topk[0]',
    'exp: "f32[16, 3][3, 1]cpu" = torch.ops.aten.exp.default(getitem)',
    returned="exp",
)


def test_one_of_several_results_of_a_library_is_the_node_that_selects_it() -> None:
    source = kernel("k", "", "in_ptr0, out_ptr0", LOAD, "tmp1 = libdevice.exp(tmp0)", STORE)
    calls = ("buf3 = torch.ops.aten.topk.default(arg0_1, 3)", "buf4 = buf3[0]", "buf5 = buf4")
    out = "buf6 = empty_strided_cpu((16, 3), (3, 1), torch.float32)"
    (launch,) = launched(module(source, *calls, out, "k.run(buf5, buf6, 48)"), TOPK, {})
    assert names(launch) == ({"in_ptr0": "getitem"}, {"out_ptr0": "exp"})


def test_the_results_of_a_kernel_that_reads_an_unknown_buffer_are_not_compared() -> None:
    other = "tmp2 = tl.load(in_ptr1 + (x0))"
    source = kernel("k", "", "in_ptr0, in_ptr1, out_ptr0", LOAD, other, "tmp1 = tmp0 * 2.0", STORE)
    doubled = graph('mul: "f32[16, 32][32, 1]cpu" = torch.ops.aten.mul.Tensor(arg0_1, 2)', returned="mul")
    for other, expected in (("buf1", "EXPECTED = {}"), ("arg0_1", "EXPECTED = {'out_ptr0': ('mul', 0.0001)}")):
        read = module(source, f"k.run(arg0_1, {other}, buf0, 512)")
        (launch,) = launched(read, doubled, {})
        assert expected in standalone(launch, read, doubled, Told("", {}))


def test_a_kernel_does_not_need_the_content_of_a_buffer_that_it_writes_first() -> None:
    source = kernel("k", "", "in_ptr0, out_ptr0", LOAD, "tmp1 = tmp0 * 2.0", STORE, "tmp2 = tl.load(out_ptr0 + (x0))")
    doubled = graph('mul: "f32[16, 32][32, 1]cpu" = torch.ops.aten.mul.Tensor(arg0_1, 2)', returned="mul")
    (launch,) = launched(module(source, "k.run(arg0_1, buf0, 512)"), doubled, {})
    assert "in_ptr0" in launch.reads and "out_ptr0" not in launch.reads


def test_a_change_in_place_by_a_library_is_the_only_node_that_is_left_or_unknown() -> None:
    source = kernel("k", "", "in_ptr0, out_ptr0", LOAD, "tmp1 = libdevice.exp(tmp0)", STORE)
    for call, before in (
        ("aten.scatter_reduce_.two(buf1, 0, arg1_1, arg0_1, reduce='sum')", {"in_ptr0": "index_put"}),
        ("aten.bernoulli_.float(buf1, 0.5)", {}),
    ):
        launch = launched(module(source, call, "k.run(buf1, buf0, 512)"), SCATTERED, {})
        assert launch[0].before == before


@pytest.mark.parametrize(
    ("language", "line", "is_scattered"),
    [
        ("triton", "tl.store(out_ptr0 + (x0), tmp1)", False),
        ("triton", "tl.store(out_ptr0 + (tmp2), tmp1)", True),
        ("triton", "tl.atomic_add(out_ptr0 + (x0), tmp1)", True),
        ("triton", "tl.atomic_max(out_ptr0 + (x0), tmp1)", True),
        ("cpp", "out_ptr0[static_cast<int64_t>(x0)] = tmp1;", False),
        ("cpp", "out_ptr0[static_cast<int64_t>(tmp2)] = tmp1;", True),
        ("cpp", "atomic_add(&out_ptr0[static_cast<int64_t>(x0)], tmp1);", True),
    ],
)
def test_a_store_scatters_if_it_is_atomic_or_its_place_is_computed(
    language: str, line: str, is_scattered: bool
) -> None:
    head = "def k(out_ptr0):\n    " if language == "triton" else "{\n"
    tail = "" if language == "triton" else "\n}"
    (statement,) = statements(Kernel("k", language, f"{head}{line}{tail}\n", 1))
    assert (statement.place is not None, statement.targets, statement.is_scattered) == (True, (), is_scattered)


@pytest.mark.parametrize(("dtype", "tolerance"), [("f32", 0.0001), ("bf16", 0.04), ("f16", 0.01), ("f64", 1e-7)])
def test_results_are_compared_with_the_tolerance_of_their_dtype(dtype: str, tolerance: float) -> None:
    source = kernel("k", "", "in_ptr0, out_ptr0", LOAD, "tmp1 = tmp0 * 2.0", STORE)
    text = f'def forward(self, arg0_1: "{dtype}[16, 32][32, 1]cpu", arg1_1: "i64[16][1]cpu"):\n'
    text += f'    mul: "{dtype}[16, 32][32, 1]cpu" = torch.ops.aten.mul.Tensor(arg0_1, 2)\n    return (mul,)\n'
    read, doubled = module(source, "k.run(arg0_1, buf0, 512)"), read_graph(text)
    (launch,) = launched(read, doubled, {})
    assert f"EXPECTED = {{'out_ptr0': ('mul', {tolerance!r})}}" in standalone(launch, read, doubled, Told("", {}))


@pytest.mark.parametrize(
    ("call", "needed"),
    [
        ("tmp0 * 2.0", set()),
        ("triton_helpers.max2(tmp0, 1)", {"_reduced", "_combined", "_on_blocks"}),
        ("tl.associative_scan(tmp0, 0, _add)", {"_scanned", "_combined"}),
        ("libdevice.exp(tmp0)", {"_on_blocks"}),
    ],
)
def test_a_file_has_only_the_parts_of_the_interpreter_that_its_kernel_calls(call: str, needed: set[str]) -> None:
    source = kernel("k", "", "in_ptr0, out_ptr0", LOAD, f"tmp1 = {call}", STORE)
    doubled = graph('mul: "f32[16, 32][32, 1]cpu" = torch.ops.aten.mul.Tensor(arg0_1, 2)', returned="mul")
    read = module(source, "k.run(arg0_1, buf0, 512)")
    (launch,) = launched(read, doubled, {})
    text = standalone(launch, read, doubled, Told("", {}))
    assert {
        helper for helper in ("_reduced", "_scanned", "_combined", "_on_blocks") if f"def {helper}(" in text
    } == needed
