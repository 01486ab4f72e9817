"""What other projects rely on, as they use it: vLLM, SGLang, TorchLens, and subclasses of the dispatching wrapper."""

from __future__ import annotations

import gc
import importlib
import inspect
import re
import types
import weakref
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.explain import enable_debugging, global_variables  # noqa: E402
from depyf.explain.utils import get_current_compiled_fn_name, write_code_to_file_template  # noqa: E402
from depyf.optimization import TorchCompileWrapperWithCustomDispatcher  # noqa: E402

import depyf  # noqa: E402 - after the check that torch is there
from tests.torch import programs  # noqa: E402


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


class Scaled(TorchCompileWrapperWithCustomDispatcher):
    """As vLLM's own wrapper: a class that is no module, around something that computes."""

    def __init__(self, factor: int) -> None:
        self.factor = factor
        super().__init__(torch.compile(self.forward, backend="eager"))

    def forward(self, x):
        return x * self.factor


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x) + 1


def first_number(path: Path) -> int:
    match = re.search(r"\d+", path.name)
    assert match is not None
    return int(match[0])


def test_a_context_is_entered_and_left_by_hand_one_after_another(tmp_path: Path) -> None:
    for rank in range(2):
        torch._dynamo.reset()
        directory = tmp_path / f"rank_{rank}" / "debug"
        context = depyf.prepare_debug(directory.as_posix())
        context.__enter__()
        try:
            torch.compile(programs.straight, backend="eager")(torch.ones(3))
        finally:
            context.__exit__(None, None, None)
        assert (directory / "__transformed_code_0_for_straight.py").exists()


def test_the_files_of_forward_are_found_by_their_names(tmp_path: Path) -> None:
    compiled = torch.compile(Model().forward, backend="aot_eager", dynamic=False)
    with depyf.prepare_debug(tmp_path):
        compiled(torch.ones(2, 3))
        compiled(torch.ones(4, 3))
    codes = sorted(tmp_path.glob("__transformed_code*for_forward.py"), key=first_number)
    graphs = sorted(tmp_path.glob("__compiled_fn*Forward_graph*.py"), key=first_number)
    assert [first_number(path) for path in codes] == [0, 1]
    assert len(graphs) == 2


def test_a_hook_reads_what_the_transformed_code_updates() -> None:
    seen: list[str] = []

    def writes(x, state):
        state["calls"] = x.shape[0]
        return x + 1

    def hook(code: types.CodeType, new_code: types.CodeType) -> None:
        if "update" in new_code.co_names or "calls" in new_code.co_consts:
            seen.append(depyf.decompile(new_code))

    handle = torch._dynamo.convert_frame.register_bytecode_hook(hook)
    try:
        torch.compile(writes, backend="eager")(torch.ones(3), {})
    finally:
        handle.remove()
    assert len(seen) == 1
    assert "update" in seen[0] or "'calls'" in seen[0]


def test_each_call_for_a_graphs_text_dumps_one(tmp_path: Path) -> None:
    def backend(module, inputs):
        torch._dynamo.utils.lazy_format_graph_code("before split", module)
        torch._dynamo.utils.lazy_format_graph_code("before split", module)
        return module.forward

    with depyf.prepare_debug(tmp_path):
        torch.compile(programs.straight, backend=backend)(torch.ones(3))
    assert len(list(tmp_path.glob("__compiled_fn_*.before_split.*.py"))) == 2


@pytest.mark.parametrize("install", [False, True])
def test_hooks_that_come_later_get_dynamos_code_or_ours_and_may_install_it(tmp_path: Path, install: bool) -> None:
    kept: list[types.CodeType] = []

    def hook(code: types.CodeType, new_code: types.CodeType) -> None:
        if code.co_name == "adds":
            kept.append(new_code)

    def adds(x, y):
        return x + y

    with depyf.prepare_debug(tmp_path, install=install):
        handle = torch._dynamo.convert_frame.register_bytecode_hook(hook)
        try:
            expected = torch.compile(adds, backend="eager")(torch.ones(2), torch.ones(2))
        finally:
            handle.remove()
    assert Path(kept[0].co_filename) == (tmp_path / "__transformed_code_0_for_adds.py" if install else Path(__file__))
    adds.__code__ = kept[0]
    assert torch.equal(adds(torch.ones(2), torch.ones(2)), expected)


def test_names_of_the_earlier_package(tmp_path: Path) -> None:
    assert global_variables.data["dump_src_dir"] is None
    parameters = inspect.signature(enable_debugging.patched_load_by_key_path).parameters.values()
    assert any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    loader = global_variables.data["unpatched_load_by_key_path"]
    assert loader == importlib.import_module("torch._inductor.codecache").PyCodeCache.load_by_key_path
    names: list[str] = []

    def backend(module, inputs):
        names.append(get_current_compiled_fn_name())
        return module.forward

    with depyf.prepare_debug(tmp_path):
        assert global_variables.data["dump_src_dir"] == str(tmp_path)
        torch.compile(programs.straight, backend=backend)(torch.ones(3))
    assert re.fullmatch(r"__compiled_fn_\d+", names[0])
    assert (tmp_path / f"{names[0]}.Captured_Graph.0.py").exists()
    assert get_current_compiled_fn_name() == "__compiled_fn_0"


def test_the_loader_is_torchs_own(tmp_path: Path) -> None:
    path = tmp_path / "made.py"
    path.write_text("value = 3\n", encoding="utf-8")
    assert enable_debugging.patched_load_by_key_path("key", str(path)).value == 3


def test_code_is_written_to_the_first_free_file(tmp_path: Path) -> None:
    template = str(tmp_path / "code_%s.py")
    assert write_code_to_file_template("a = 1\n", template) == str(tmp_path / "code_0.py")
    assert write_code_to_file_template("a = 2\n", template) == str(tmp_path / "code_1.py")
    assert write_code_to_file_template("a = 1\n", template) == str(tmp_path / "code_0.py")
    assert len(list(tmp_path.iterdir())) == 2


def test_an_instance_dispatches_to_its_own_code() -> None:
    two, three = Scaled(2), Scaled(3)
    x = torch.ones(2)
    assert torch.equal(two(x), x * 2)
    assert torch.equal(three(x), x * 3)
    assert (len(two.compiled_codes), len(three.compiled_codes)) == (1, 1)
    with three.dispatch_to_code(0):
        assert Scaled.forward.__code__ is three.compiled_codes[0]
        assert torch.equal(three.forward(x), x * 3)
    with pytest.raises(KeyError), two.dispatch_to_code(0):
        raise KeyError
    assert Scaled.forward.__code__ is two.original_code_object
    with pytest.raises(IndexError, match="1 were compiled so far"), two.dispatch_to_code(1):
        pass


def test_an_instance_that_is_gone_leaves_no_hook() -> None:
    hooks = torch._dynamo.convert_frame._bytecode_hooks
    gc.collect()
    before = len(hooks)
    instance = Scaled(4)
    alive = weakref.ref(instance)
    assert len(hooks) == before + 1
    del instance
    gc.collect()
    assert alive() is None
    assert len(hooks) == before


def test_repeated_dumps_have_the_same_files(tmp_path: Path) -> None:
    names_of_runs = []
    for directory in (tmp_path / "first", tmp_path / "second"):
        torch._dynamo.reset()
        with depyf.prepare_debug(directory, clean_wild_fx_code=True, log_bytecode=False):
            torch.compile(programs.straight, backend="eager")(torch.ones(3))
        names_of_runs.append(
            {re.sub(r"__compiled_fn_\d+", "__compiled_fn_", path.name) for path in directory.iterdir()}
        )
    assert names_of_runs[0] == names_of_runs[1]


def test_a_hook_reads_dynamos_code_without_its_shuffling() -> None:
    def broken(x: torch.Tensor, table: dict[str, torch.Tensor]) -> torch.Tensor:
        table.update(key=x)
        torch._dynamo.graph_break()
        return table["key"] * 2

    named_codes: list[tuple[str, str]] = []
    handle = torch._dynamo.convert_frame.register_bytecode_hook(
        lambda code, new_code: named_codes.append((code.co_name, depyf.decompile(new_code)))
    )
    try:
        torch.compile(broken, backend="eager")(torch.ones(3), {})
    finally:
        handle.remove()
    assert [name for name, _ in named_codes][0] == "broken"
    assert "update" in named_codes[0][1]
    for _, text in named_codes:
        compile(text, "<decompiled>", "exec")
        assert ":=" not in text
        assert "del " not in text
        assert "[0:" not in text


def test_what_the_user_wrote_in_that_way_is_read_as_it_was_written() -> None:
    def own(values: list[int]) -> int:
        first = (first_value := values)[0]
        del values
        return first + len(first_value[0:])

    text = depyf.decompile(own.__code__)
    assert ":=" in text
    assert "del values" in text
    assert "[0:]" in text
