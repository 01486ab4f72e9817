"""The lanes of a kernel's values that count, by the conditions of their loads."""

from __future__ import annotations

from depyf.links.inductor.lanes import conditions
from depyf.links.inductor.module import Kernel
from depyf.links.inductor.statements import statements

TRITON = """
@triton.jit
def triton_poi_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    tmp3 = tmp1 < tmp2
    tmp4 = tl.load(in_ptr0 + (x0), tmp3 & xmask, other=0.0)
    tmp5 = -tmp4
    tmp6 = tl.load(in_ptr0 + (x0), xmask)
    tmp7 = tmp5 + tmp6
    tmp8 = tl.where(tmp3, tmp7, 0.0)
    tmp9 = tmp8 * tmp6
    tmp_acc0 = tmp_acc0 + tmp5
    tmp10 = tmp_acc0 * 2
"""

CPP = """
extern "C" void kernel(const float* in_ptr0, float* out_ptr0)
{
    auto tmp5 = at::vec::VecMask<int64_t,2>(tmp2 < tmp4);
    auto tmp6 = [&]
    {
        auto tmp7 = tmp5.template cast<float,1>().template loadu<float,1>(in_ptr0 + static_cast<int64_t>(x1));
        auto tmp8 = tmp7.exp();
        return tmp8;
    }
    ;
    auto tmp18 =
    [&]
    {
        if (tmp5.all_zero())
        {
            return at::vec::Vectorized<float>(static_cast<float>(0.0));
        }
        else
        {
            auto tmp16 = tmp6();
            auto tmp17 = at::vec::Vectorized<float>(static_cast<float>(0.0));
            return decltype(tmp16)::blendv(tmp17, tmp16, tmp5.template cast<float,1>());
        }
    }
    ()
    ;
    auto tmp19 = tmp18 + tmp18;
}
"""


def test_triton_s_lanes_count_where_they_were_loaded_until_a_choice_fills_the_others() -> None:
    masks = conditions(statements(Kernel("triton_poi_0", "triton", TRITON, 1)))
    assert masks == {5: ("tmp3",), 6: ("tmp3",), 8: ("tmp3",), 11: ("tmp3",)}


def test_what_a_masked_function_of_cpp_returns_counts_in_its_lanes() -> None:
    kernel_statements = statements(Kernel("cpp_fused_0", "cpp", CPP, 1))
    assert {statement.line: statement.targets for statement in kernel_statements if statement.line in (9, 17, 23)} == {
        9: ("tmp6",),
        17: ("tmp18",),
        23: ("tmp18",),
    }
    assert conditions(kernel_statements) == {7: ("tmp5",), 8: ("tmp5",), 9: ("tmp5",), 21: ("tmp5",)}
