"""Kernels by name, where a module calls them, and how long their compilers took."""

from __future__ import annotations

from depyf.links.kernel_calls import KernelCall, first_kernel, kernel_calls
from depyf.model.phases import duration, phases

MODULE = """\
import torch
extern_kernels = load(torch)
cpp_fused_add_0 = async_compile.cpp_pybinding(['float*'], r'''
extern "C" void kernel(float* x) { cpp_fused_other_9(x); }
''')
async_compile.wait(globals())

class Runner:
    def call(self, args):
        # cpp_fused_add_0(arg0_1)
        assert_size_stride(arg0_1, (2, 2), (2, 1))
        extern_kernels.mm(arg0_1, arg1_1, out=buf0)
        cpp_fused_add_0(arg0_1, buf0)
        triton_poi_fused_1.run(buf0, 4, grid=grid(4), stream=stream0)
        buf3 = torch.ops.aten.sort.stable(buf0, stable=False)
        extern_kernels.mm(buf0, arg1_1, out=buf2)
        return (buf2, )
"""


def test_calls_are_told_by_name_and_line() -> None:
    assert list(kernel_calls(MODULE)) == [
        KernelCall(12, "extern_kernels.mm"),
        KernelCall(13, "cpp_fused_add_0"),
        KernelCall(14, "triton_poi_fused_1"),
        KernelCall(15, "torch.ops.aten.sort.stable"),
        KernelCall(16, "extern_kernels.mm"),
    ]


def test_the_first_kernel_is_the_first_that_is_defined() -> None:
    assert first_kernel(MODULE) == 3
    assert first_kernel("import torch\ndef call():\n    extern_kernels.mm(a)\n") == 3
    assert first_kernel("import torch\n") == 1


def test_other_compilers_are_parts_of_the_whole() -> None:
    seconds = {"total": 10.0, "backend": 9.0, "inductor": 8.0, "code generation": 6.0, "kernel compilers": 5.0}
    more = {"Triton compiler": 2.0, "backward total": 4.0, "backward kernel compilers": 3.0}
    parts = phases({**seconds, **more})
    assert (parts["code generation"], parts["backward"]) == (1.0, 1.0)
    assert (parts["C++ compiler"], parts["Triton compiler"]) == (6.0, 2.0)
    assert duration({**seconds, **more}) == duration({**seconds, "backward total": 4.0}) == 14.0
