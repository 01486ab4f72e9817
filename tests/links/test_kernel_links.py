"""Which of the user's lines the lines of Inductor's modules came from."""

from __future__ import annotations

from depyf.links.graphs import STALE
from depyf.links.kernels import UNTOLD, Computed, computed_by, kernel_links
from depyf.links.origins import Origins

NAMES = {"/home/me/toy.py": "toy.py"}


def at(*lines: int) -> Origins:
    return frozenset(("toy.py", line) for line in lines)


KERNEL = """\
import torch

cpp_fused_add_0 = async_compile.cpp_pybinding(['float*'], r'''
void kernel() {}
''')

async_compile.wait(globals())

def call(self, args):
    buf0 = empty_strided_cpu((), (), torch.float32)
    # [Provenance debug handles] cpp_fused_add_0:1
    cpp_fused_add_0(buf0)
    # [Provenance debug handles] extern_kernels.mm:2
    extern_kernels.mm(
        buf0, out=buf0)
    return (buf0, )
"""
NODES = {"add": at(12), "mm": at(13)}


def test_calls_and_texts_of_kernels_came_from_the_nodes_that_they_compute() -> None:
    computed = {"cpp_fused_add_0:1": Computed(("add",)), "extern_kernels.mm:2": Computed(("mm",))}
    links = kernel_links(KERNEL, computed, NODES, NAMES)
    assert [number for number in range(1, 17) if links.of(number) == at(12)] == [3, 4, 5, 11, 12]
    assert [number for number in range(1, 17) if links.of(number) == at(13)] == [13, 14, 15]
    assert not links.of(9)


def test_a_buffer_is_there_for_the_calls_that_use_it() -> None:
    computed = {"cpp_fused_add_0:1": Computed(("add",)), "extern_kernels.mm:2": Computed(("mm",))}
    more = KERNEL.replace("    # [Prov", "    buf1 = buf0; del buf0  # reuse\n    # [Prov", 1)
    more = more.replace("(buf0)", "(buf1)")
    more = more.replace("    return (buf0, )", "    del buf1\n\ndef get_args():\n    buf1 = rand_strided()")
    links = kernel_links(more, computed, NODES, NAMES)
    assert links.of(10) == at(12, 13) and links.of(11) == at(12) and links.of(17) == at(12)
    assert not links.of(20)


def test_a_stream_that_a_module_gets_for_a_call_is_not_the_call() -> None:
    computed = {"cpp_fused_add_0:1": Computed(("add",)), "extern_kernels.mm:2": Computed(("mm",))}
    call = "    cpp_fused_add_0(buf0)"
    with_stream = KERNEL.replace(call, f"    raw_stream0 = get_raw_stream(0)\n{call}")
    links = kernel_links(with_stream, computed, NODES, NAMES)
    assert [number for number in range(9, 17) if links.of(number) == at(12)] == [11, 12, 13]


TAKES = """\
    arg0_1, arg1_1, arg2_1 = args
    cpp_fused_add_0(arg0_1)
    # [Provenance debug handles] extern_kernels.mm:2
    extern_kernels.mm(arg1_1, out=arg1_1)
    return (arg0_1, )

def get_args():
    arg0_1 = 8
    arg1_1 = rand_strided((8, ), (1, ), device='cpu')
    arg2_1 = rand_strided((8, ), (1, ), device='cpu')
    return [arg0_1, arg1_1, arg2_1]
"""


def test_what_takes_the_inputs_and_makes_examples_of_them_is_there_for_the_calls_that_use_them() -> None:
    computed = {"cpp_fused_add_0:1": Computed(("add",)), "extern_kernels.mm:2": Computed(("mm",))}
    text = "def call(self, args):\n    # [Provenance debug handles] cpp_fused_add_0:1\n" + TAKES
    first, rest = text.splitlines(keepends=True)[1:3]
    text = text.replace(first + rest, rest + first)
    lines = dict(kernel_links(text, computed, NODES, NAMES).lines)
    assert (lines[2], lines[7]) == (at(12, 13), at(12))
    assert (lines[10], lines[11], lines.get(12), lines[13]) == (at(12), at(13), None, at(12, 13))
    swapped = text.replace("[arg0_1, arg1_1, arg2_1]", "[arg1_1, arg0_1, arg2_1]")
    assert not any(number > 9 for number in kernel_links(swapped, computed, NODES, NAMES).lines)


def test_without_a_mapping_no_kernel_is_linked_and_the_reader_is_told_why() -> None:
    links = kernel_links(KERNEL, None, NODES, NAMES)
    assert not links.lines and links.note == UNTOLD


def test_kernels_with_places_that_were_not_captured_come_from_a_cache() -> None:
    links = kernel_links(KERNEL, {"cpp_fused_add_0:1": Computed(("add",))}, NODES, NAMES, at(14))
    assert not links.lines and links.note == STALE


STACK = '  File "/home/me/toy.py", line 30, in f\n    g()\n  File "/home/me/toy.py", line 12, in g\n    x\n'


def test_a_kernel_of_nodes_without_a_place_came_from_the_innermost_line_of_its_stacks() -> None:
    links = kernel_links(KERNEL, {"cpp_fused_add_0:1": Computed(("unknown",), (STACK, "no frame"))}, NODES, NAMES)
    assert links.of(12) == at(12) and not links.of(14)


def test_lines_that_a_cache_names_in_stacks_are_where_they_were_captured_now() -> None:
    (before,), (now,) = at(12), at(14)
    computed = {"cpp_fused_add_0:1": Computed((), (STACK,))}
    links = kernel_links(KERNEL, computed, {}, NAMES, frozenset((now,)), {before: now})
    assert links.of(12) == at(14)
    assert kernel_links(KERNEL, computed, {}, NAMES, frozenset((now,))).note == STALE


def test_what_a_kernel_computes_is_read_from_the_texts_of_each_release() -> None:
    assert computed_by('{"k:1": {"post_grad_nodes": ["add"], "stack_traces": []}}', "") == {"k:1": Computed(("add",))}
    assert computed_by("", '{"cppCodeToPost": {"k:1": ["add"]}}') == {"k:1": Computed(("add",))}
    assert computed_by('{"k:1": ["s"]}', '{"cppCodeToPost": {"k:1": ["add"]}}') == {"k:1": Computed(("add",), ("s",))}
    assert computed_by("not json", "[1]") is None and computed_by("", '{"version": 2.0}') is None
