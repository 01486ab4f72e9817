"""The judge of links finds what is false: by the values of a kernel's statements, and by the comments of a graph."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the judge runs kernels")

from benchmarks.linked.graph_text import graphs_inside, places_of_lines, places_of_names  # noqa: E402 - after the check that torch is there
from benchmarks.linked.judge import Module  # noqa: E402
from benchmarks.linked.values import WHOLE, _inputs, instrumented  # noqa: E402

MODULE = """import torch
from torch._inductor.async_compile import AsyncCompile
empty_strided_cpu = torch._C._dynamo.guards._empty_strided_cpu
async_compile = AsyncCompile()

cpp_fused_mul_0 = async_compile.cpp_pybinding(['const float*', 'const float*', 'float*'], r'''
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const float* in_ptr0,
                       const float* in_ptr1,
                       float* out_ptr0)
{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(3L); x0+=static_cast<int64_t>(16L))
    {
        if(C10_LIKELY(x0 >= static_cast<int64_t>(0L) && x0 < static_cast<int64_t>(3L)))
        {
            auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(3L));
            auto tmp1 = at::vec::Vectorized<float>::loadu(in_ptr1 + static_cast<int64_t>(x0), static_cast<int64_t>(3L));
            auto tmp2 = static_cast<float>(-1.0);
            auto tmp3 = at::vec::Vectorized<float>(tmp2);
            auto tmp4 = tmp1 * tmp3;
            auto tmp5 = tmp0 + tmp4.exp();
            tmp5.store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(3L));
        }
    }
}
''')

async_compile.wait(globals())

def call(args):
    arg0_1, arg1_1 = args
    args.clear()
    buf0 = empty_strided_cpu((3, ), (1, ), torch.float32)
    # [Provenance debug handles] cpp_fused_mul_0:1
    cpp_fused_mul_0(arg1_1, arg0_1, buf0)
    buf1 = empty_strided_cpu((3, ), (1, ), torch.float32)
    # [Provenance debug handles] cpp_fused_mul_0:2
    cpp_fused_mul_0(buf0, arg1_1, buf1)
    return (buf1, )

def get_args():
    return [torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0])]
"""
GRAPH = """class GraphModule(torch.nn.Module):
    def forward(self, arg0_1: "f32[3][1]cpu", arg1_1: "f32[3][1]cpu"):
        # File: user.py:14 in f, code: b = b * -1
        mul: "f32[3][1]cpu" = torch.ops.aten.mul.Tensor(arg0_1, -1);  arg0_1 = None

        # File: user.py:15 in f, code: return x + b.exp()
        exp: "f32[3][1]cpu" = torch.ops.aten.exp.default(mul);  mul = None
        add: "f32[3][1]cpu" = torch.ops.aten.add.Tensor(arg1_1, exp);  exp = None

        # File: user.py:16 in f, code: x = x * -1
        mul_1: "f32[3][1]cpu" = torch.ops.aten.mul.Tensor(arg1_1, -1);  arg1_1 = None

        # File: user.py:17 in f, code: return y + x.exp()
        exp_1: "f32[3][1]cpu" = torch.ops.aten.exp.default(mul_1);  mul_1 = None
        add_1: "f32[3][1]cpu" = torch.ops.aten.add.Tensor(add, exp_1);  add = exp_1 = None
        return (add_1,)
"""
STACKS = {
    "cpp_fused_mul_0:1": ['  File "user.py", line 14, in f\n', '  File "user.py", line 15, in f\n'],
    "cpp_fused_mul_0:2": ['  File "user.py", line 16, in f\n', '  File "user.py", line 17, in f\n'],
}
COMPUTED = {"cpp_fused_mul_0:1": ["add", "exp", "mul"], "cpp_fused_mul_0:2": ["add_1", "exp_1", "mul_1"]}
IN_14, IN_15, IN_16, IN_17 = (frozenset({("user.py", line)}) for line in (14, 15, 16, 17))


HEAD = MODULE.partition("cpp_fused_mul_0 = ")[0]
KERNEL = """cpp_fused_{name} = async_compile.cpp_pybinding(['const {first}*', 'const float*', 'float*'], r'''
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const {first}* in_ptr0,
                       const float* in_ptr1,
                       float* out_ptr0)
{{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(2L); x0+=static_cast<int64_t>(1L))
    {{
{body}
    }}
}}
''')

"""
CALL = """async_compile.wait(globals())

def call(args):
    arg0_1, arg1_1 = args
    args.clear()
{body}

def get_args():
    return [{inputs}]
"""
LAUNCH = """    buf{number} = empty_strided_cpu((2, ), (1, ), torch.float32)
    # [Provenance debug handles] cpp_fused_{name}:{handle}
    cpp_fused_{name}(arg0_1, arg1_1, buf{number})"""


def line_of(text: str, part: str) -> int:
    return next(number for number, row in enumerate(text.splitlines(), start=1) if part in row)


def write_module(
    folder: Path, text: str, graph: str, stacks: dict[str, list[str]], nodes: dict[str, list[str]]
) -> Module:
    (folder / "other").mkdir()
    (folder / "g.kernel_0.py").write_text(text, encoding="utf-8")
    (folder / "g.AFTER_POST_GRAD.0.py").write_text(graph, encoding="utf-8")
    for name, trace_data in (("kernel_stack_traces", stacks), ("node_mappings", {"cppCodeToPost": nodes})):
        path = folder / "other" / f"g.inductor_provenance_tracking_{name}.0.json"
        path.write_text(json.dumps(trace_data), encoding="utf-8")
    return Module(folder, "g.kernel_0.py")


@pytest.fixture(name="module")
def _module(tmp_path: Path) -> Module:
    return write_module(tmp_path, MODULE, GRAPH, STACKS, COMPUTED)


def test_an_input_with_the_name_of_a_node_is_of_the_calls_that_take_it(tmp_path: Path) -> None:
    text = MODULE.replace("arg0_1", "relu").replace("def get_args():\n", "def get_args():\n    relu = example()\n")
    module = write_module(tmp_path, text, GRAPH, STACKS, COMPUTED)
    assert module.allowed(line_of(text, "relu = example()"), {}) == (IN_14 | IN_15, "buffer")
    assert module.allowed(line_of(text, "import torch"), {}) == (frozenset(), "around")


needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the judge compiles kernels with g++")


@needs_compiler
def test_a_link_to_another_line_of_the_kernel_is_false(module: Module) -> None:
    product, whole, constant = (line_of(MODULE, f"auto {name} = ") for name in ("tmp4", "tmp5", "tmp2"))
    values = module.computed({product, whole, constant})
    assert (values[product], values[whole]) == (["mul", "mul_1"], ["add", "add_1"])
    allowed = {number: module.allowed(number, values)[0] for number in (product, whole, constant)}
    # A line may be linked to what it computes and to what that serves, in each launch: 14 is false for the sum, 15 for
    # the constant.
    assert allowed == {product: IN_14 | IN_15 | IN_16 | IN_17, whole: IN_15 | IN_17, constant: IN_14 | IN_16}


ITEMS = """class GraphModule(torch.nn.Module):
    def forward(self, arg0_1: "f32[3][1]cpu", arg1_1: "f32[3][1]cpu"):
        # File: user.py:14 in f, code: low, high = x.aminmax()
        aminmax = torch.ops.aten.aminmax.default(arg0_1)
        getitem: "f32[][]cpu" = aminmax[0];  aminmax = None

        # File: user.py:15 in f, code: return low, x[0] * 2
        mul: "f32[3][1]cpu" = torch.ops.aten.mul.Tensor(arg0_1, 2);  arg0_1 = None
        return (getitem, mul)
"""


@needs_compiler
def test_a_result_of_a_node_is_of_that_node_in_its_kernel_and_in_no_other(tmp_path: Path) -> None:
    least = "        auto tmp0 = in_ptr0[static_cast<int64_t>(0L)];\n        out_ptr0[x0] = tmp0;"
    twice = least.replace("out_ptr0", "auto tmp1 = tmp0 * static_cast<float>(2.0);\n        out_ptr0")
    twice = twice.replace("= tmp0;", "= tmp1;").replace("tmp0", "tmp2")
    text = HEAD + KERNEL.format(name="aminmax_0", first="float", body=least)
    text += KERNEL.format(name="mul_1", first="float", body=twice)
    launches = [LAUNCH.format(number=0, name="aminmax_0", handle=1), LAUNCH.format(number=1, name="mul_1", handle=2)]
    text += CALL.format(body="\n".join(launches), inputs="torch.arange(1.0, 4.0), torch.ones(3)")
    nodes = {"cpp_fused_aminmax_0:1": ["aminmax"], "cpp_fused_mul_1:2": ["mul"]}
    stacks = {name: [line for stacks_of in STACKS.values() for line in stacks_of] for name in nodes}
    module = write_module(tmp_path, text, ITEMS, stacks, nodes)
    product, other = line_of(text, "auto tmp0 = "), line_of(text, "auto tmp2 = ")
    values = module.computed({product, other})
    assert (values[product], values[other]) == (["getitem"], [])
    # Both lines load the same number: the second is there for the product alone.
    assert (module.allowed(product, values)[0], module.allowed(other, values)[0]) == (IN_14, IN_15)


TABLE = """class GraphModule(torch.nn.Module):
    def forward(self, arg0_1: "i64[2][1]cpu", arg1_1: "f32[2, 3][3, 1]cpu"):
        # File: user.py:14 in f, code: row = table[index]
        embedding: "f32[2, 3][3, 1]cpu" = torch.ops.aten.embedding.default(arg1_1, arg0_1);  arg1_1 = arg0_1 = None

        # File: user.py:15 in f, code: return row[:, 0] * 7
        select: "f32[2][3]cpu" = torch.ops.aten.select.int(embedding, 1, 0);  embedding = None
        mul: "f32[2][1]cpu" = torch.ops.aten.mul.Tensor(select, 7);  select = None
        return (mul,)
"""
LOOKUP = """        auto tmp0 = in_ptr0[x0];
        TORCH_CHECK((0 <= tmp0) && (tmp0 < 2L), "index out of bounds");
        auto tmp1 = in_ptr1[static_cast<int64_t>(3L*tmp0)];
        auto tmp2 = tmp1 * static_cast<float>(7.0);
        out_ptr0[x0] = tmp2;"""


@needs_compiler
def test_an_index_is_of_a_row_that_the_table_has(tmp_path: Path) -> None:
    text = HEAD + KERNEL.format(name="embedding_mul_0", first="int64_t", body=LOOKUP)
    launch = LAUNCH.format(number=0, name="embedding_mul_0", handle=1)
    text += CALL.format(body=launch, inputs="torch.tensor([0, 1]), torch.arange(1.0, 7.0).view(2, 3)")
    nodes = {"cpp_fused_embedding_mul_0:1": ["embedding", "mul"]}
    stacks = {name: [line for stacks_of in STACKS.values() for line in stacks_of] for name in nodes}
    module = write_module(tmp_path, text, TABLE, stacks, nodes)
    index, row, product = (line_of(text, f"auto {name} = ") for name in ("tmp0", "tmp1", "tmp2"))
    values = module.computed({index, row, product})
    assert (values[index], values[row], values[product]) == ([], ["embedding"], ["mul"])
    # Indices that the table does not have would end the run: any line of the kernel could then be linked to any of its.
    allowed = {number: module.allowed(number, values)[0] for number in (index, row, product)}
    assert allowed == {index: IN_14, row: IN_14 | IN_15, product: IN_15}


def test_indices_are_below_the_rows_of_the_smallest_table_and_not_of_other_indices() -> None:
    def indices(*shapes: tuple[int, ...]) -> set[int]:
        index = torch.zeros(1, 40, dtype=torch.int64)
        arguments = _inputs({"get_args": lambda: [index, *(torch.ones(shape) for shape in shapes)]})
        return {int(index) for index in arguments[0].flatten()}

    assert indices((3, 8), (64, 8)) == {0, 1, 2}
    assert indices((64, 8), (2, 2, 2)) == indices() == {0, 1, 2, 3}


def test_a_vector_is_no_longer_than_the_range_of_its_loop() -> None:
    rows = instrumented(MODULE, ["cpp_fused_mul_0"]).splitlines()
    assert next(row for row in rows if "auto tmp4" in row).endswith(", 3, tmp4);")
    after = MODULE.replace("        }\n    }\n}", "        }\n        auto tmp6 = 1;\n    }\n}")
    assert f", {WHOLE}, tmp6);" in instrumented(after, ["cpp_fused_mul_0"])


def test_a_graph_inside_of_a_graph_has_its_nodes_and_no_others_have() -> None:
    inner = """
    class score0(torch.nn.Module):
        def forward(self, arg0_1: "f32[][]cpu"):
            # File: user.py:20 in g, code: return score.exp()
            exp: "f32[][]cpu" = torch.ops.aten.exp.default(arg0_1);  arg0_1 = None
            return exp
"""
    assert graphs_inside(GRAPH + inner) == {"score0"}
    places = places_of_names(GRAPH + inner)
    assert (places["score0"], places["exp"]) == (frozenset({("user.py", 20)}), IN_15)


def test_a_change_in_place_is_of_the_line_above_it_and_of_no_other() -> None:
    graph = GRAPH.replace('exp: "f32[3][1]cpu" = torch.ops.aten.exp.default(mul);', "mul += arg1_1;")
    places = places_of_lines(graph)
    assert places[line_of(graph, "mul += arg1_1")] == IN_15
    assert places[line_of(graph, "aten.mul.Tensor")] == IN_14


def test_a_note_before_the_place_is_no_other_place() -> None:
    graph = GRAPH.replace("# File: user.py:16 in f", "# Annotation: {'stream': 1} File: user.py:16 in f")
    assert "Annotation" in graph
    assert places_of_lines(graph)[line_of(graph, "mul_1:")] == IN_16
