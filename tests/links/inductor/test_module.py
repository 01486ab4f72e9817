"""Inductor's modules taken apart: launches in the order in which they run."""

from __future__ import annotations

from depyf.links.inductor.module import Buffer, read_module


def test_a_part_that_nothing_calls_is_read_last() -> None:
    module = read_module(
        "k0 = async_compile.triton('k0', '''\ndef k0(a):\n    pass\n''')\n"
        "def partition_0(args):\n    k0.run(buf1, stream=s)\n"
        "def partition_1(args):\n    k0.run(buf0, stream=s)\n"
        "class Runner:\n    def call(self, args):\n"
        "        buf0 = empty_strided_cuda((2, ), (1, ), torch.float32)\n"
        "        (buf1,) = self.partitions[1]([buf0])\n"
    )
    assert [launch.arguments for launch in module.launches] == [("buf0",), ("buf1",)]
    assert module.launches[0].values == (Buffer("buf0", (2,), (1,), 0, "float32"),)
