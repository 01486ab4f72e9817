"""Inductor's modules get probes: each line of a kernel that sets a value, each store, and each launch."""

from __future__ import annotations

import ast

from depyf.links.inductor.module import read_module
from depyf.links.inductor.probes import COUNTED, probed

HEAD = """import torch
async_compile = AsyncCompile()
"""
TRITON = (
    HEAD
    + """
triton_poi_0 = async_compile.triton('triton_poi_0', '''
import triton
import triton.language as tl

@triton_heuristics.pointwise(filename=__file__)
@triton.jit
def triton_poi_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    _tmp1 = _tmp1 + tmp0
    tmp2 = tl.where(tmp0 > 0,
                    tmp0, 0)
    tl.store(out_ptr0 + (x0), tmp2, xmask)
''', device_str='cpu')

def call(args):
    arg0_1, = args
    buf0 = empty_strided_cpu((8, ), (1, ), torch.float32)
    triton_poi_0.run(arg0_1, buf0, 8, stream=stream0)
    return (buf0, )
"""
)
CPP = (
    HEAD
    + """
cpp_fused_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const float* in_ptr0,
                       float* out_ptr0)
{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(19L); x0+=static_cast<int64_t>(16L))
    {
        if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(16L)))
        {
            auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(16));
            auto tmp1 = tmp0 + tmp0;
            tmp1.store(out_ptr0 + static_cast<int64_t>(x0));
        }
        if(C10_UNLIKELY(x0 >= static_cast<int64_t>(16L) && x0 < static_cast<int64_t>(19L)))
        {
            auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(3L));
            auto tmp1 = tmp0 + tmp0;
            tmp1.store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(3L));
        }
    }
}
''')

def call(args):
    arg0_1, = args
    buf0 = empty_strided_cpu((19, ), (1, ), torch.float32)
    cpp_fused_0(arg0_1, buf0)
    return (buf0, )
"""
)


def test_lines_of_triton_note_what_they_set_and_store() -> None:
    text = probed(TRITON, read_module(TRITON), "receiver", 7)
    ast.parse(text)
    kernel = next(iter(read_module(text).kernels.values())).text
    ast.parse(kernel)
    rows = [row.strip() for row in kernel.splitlines()]
    assert "import triton; from receiver import note as _depyf_note, stored as _depyf_stored" in rows
    assert 'tmp0 = tl.load(in_ptr0 + (x0), xmask); _depyf_note(9, "tmp0", locals(), ())' in rows
    assert "_tmp1 = _tmp1 + tmp0" in rows, "what a loop gathers is no value yet"
    assert 'tmp0, 0); _depyf_note(11, "tmp2", locals(), ())' in rows
    stored = "tl.store(out_ptr0 + (x0), tmp2, xmask); _depyf_stored(13, out_ptr0 + x0, tmp2, locals())"
    assert stored in rows


def test_a_launch_tells_its_arguments_when_it_is_done() -> None:
    text = probed(TRITON, read_module(TRITON), "receiver", 7)
    assert "triton_poi_0.run(arg0_1, buf0, 8, stream=stream0); _depyf.ran(7, 0, (arg0_1, buf0, 8, ))" in text
    assert text.endswith("call = _depyf.watched(7, call)\n")


def test_lines_of_cpp_note_the_lanes_that_count() -> None:
    text = probed(CPP, read_module(CPP), "receiver", 0)
    rows = [row.strip() for row in text.splitlines()]
    assert "auto tmp1 = tmp0 + tmp0; depyf_note(11, tmp1, 16);" in rows
    assert "auto tmp1 = tmp0 + tmp0; depyf_note(17, tmp1, 3L);" in rows
    assert any(row.endswith("depyf_note(12, tmp1, 16);") and ".store(" in row for row in rows)
    assert "{ DepyfKernel depyf_kernel;" in rows


def test_lines_of_triton_name_the_conditions_under_which_their_values_were_loaded() -> None:
    text = TRITON.replace("tl.load(in_ptr0 + (x0), xmask)", "tl.load(in_ptr0 + (x0), tmp9 & xmask, other=0.0)")
    kernel = next(iter(read_module(probed(text, read_module(text), "receiver", 7)).kernels.values())).text
    assert """_depyf_note(9, "tmp0", locals(), ('tmp9',))""" in kernel


def test_lines_of_cpp_note_the_lanes_of_a_mask() -> None:
    body = """
            auto tmp9 = at::vec::VecMask<int64_t,2>(tmp7 < tmp8);
            auto tmp6 = [&]
            {
                auto tmp0 = tmp9.template cast<float,1>().template loadu<float,1>(in_ptr0 + static_cast<int64_t>(x0));
                auto tmp1 = tmp0 + tmp0;
                return tmp1;
            }
            ;
"""
    old = "            auto tmp1 = tmp0 + tmp0;\n            tmp1.store(out_ptr0 + static_cast<int64_t>(x0));\n"
    assert old in CPP
    text = CPP.replace(old, body)
    rows = [row.strip() for row in probed(text, read_module(text), "receiver", 0).splitlines()]
    (row,) = (line for line in rows if line.startswith("auto tmp1") and f"depyf_note({COUNTED + 16}, " in line)
    assert "depyf_note(16, tmp1, " in row
    assert "[&](int depyf_lane) { return depyf_is_kept(tmp9, depyf_lane); });" in row
    assert "return tmp1;" in rows, "nothing is noted of what is returned"
