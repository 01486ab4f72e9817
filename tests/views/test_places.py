"""The place of a function is a line of the program, also where torch's wrapper stands for a compiled object."""

from __future__ import annotations

import pytest

from depyf.model.run import Compile, CompileId, Function
from depyf.model.user_line import UserLine
from depyf.views.words import where_words

CALL = UserLine("train.py", 7, "out = compiled(x)", "main")
OF_TORCH = UserLine("torch/nn/modules/module.py", 1778, "return self._call_impl(*args, **kwargs)", "_wrapped_call_impl")


def _called(filename: str) -> Function:
    inner = Function("0", "inner", filename, 67, "", "0")
    inner.compiles.append(Compile(CompileId(0, 0), "inner", filename, 67, user_stack=(CALL, OF_TORCH)))
    return inner


@pytest.mark.parametrize(
    ("filename", "said"),
    [
        ("torch/_dynamo/external_utils.py", "train.py:7, first called here"),
        ("<eval_with_key>.7", "train.py:7, in generated code"),
        ("net.py", "net.py:67"),
    ],
)
def test_the_place_of_a_function_is_a_line_of_the_program(filename: str, said: str) -> None:
    assert where_words(_called(filename)) == said


def test_a_wrapper_that_the_program_never_called_keeps_its_own_place() -> None:
    function = _called("torch/_dynamo/external_utils.py")
    function.compiles[0].user_stack = (OF_TORCH,)
    assert where_words(function) == "torch/_dynamo/external_utils.py:67"
