"""The judge of links finds what is false: by the values of a kernel's statements, and by the comments of a graph."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the judge runs kernels")

from benchmarks.linked.graph_text import graphs_inside, places_of_lines, places_of_names  # noqa: E402 - after the check that torch is there
from benchmarks.linked.judge import Module  # noqa: E402
from benchmarks.linked.values import WHOLE, instrumented  # noqa: E402

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
NODES = {"cppCodeToPost": COMPUTED}
IN_14, IN_15, IN_16, IN_17 = (frozenset({("user.py", line)}) for line in (14, 15, 16, 17))


def line_of(text: str, part: str) -> int:
    return next(number for number, row in enumerate(text.splitlines(), start=1) if part in row)


@pytest.fixture(name="module")
def _module(tmp_path: Path) -> Module:
    (tmp_path / "other").mkdir()
    (tmp_path / "g.kernel_0.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "g.AFTER_POST_GRAD.0.py").write_text(GRAPH, encoding="utf-8")
    for name, told in (("kernel_stack_traces", STACKS), ("node_mappings", NODES)):
        path = tmp_path / "other" / f"g.inductor_provenance_tracking_{name}.0.json"
        path.write_text(json.dumps(told), encoding="utf-8")
    return Module(tmp_path, "g.kernel_0.py")


@pytest.mark.skipif(shutil.which("g++") is None, reason="the judge compiles kernels with g++")
def test_a_link_to_another_line_of_the_kernel_is_false(module: Module) -> None:
    product, whole, constant = (line_of(MODULE, f"auto {name} = ") for name in ("tmp4", "tmp5", "tmp2"))
    values = module.computed({product, whole, constant})
    assert (values[product], values[whole]) == (["mul", "mul_1"], ["add", "add_1"])
    allowed = {number: module.allowed(number, values)[0] for number in (product, whole, constant)}
    # A line may be linked to what it computes and to what that serves, in each launch: 14 is false for the sum, 15 for
    # the constant.
    assert allowed == {product: IN_14 | IN_15 | IN_16 | IN_17, whole: IN_15 | IN_17, constant: IN_14 | IN_16}


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
