"""Record hashes of all tensors at the edges of kernels while a program runs: `depyf run --bits`.

The recorder puts calls of this module into the text of Inductor's modules, behind each launch of a kernel. It writes a
line for each call of a module into `bits.jsonl`, and keeps nothing. For one launch, if asked, it keeps the values.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import sys
import threading
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import field, replace
from pathlib import Path
from typing import Any, TextIO

import torch
from torch import Tensor

from depyf.bytecode.records import dataclass
from depyf.links.inductor.graph import Graph, read_graph
from depyf.links.inductor.line import Launched
from depyf.links.inductor.lines import launched, library_results
from depyf.links.inductor.module import Launch, read_module
from depyf.links.inductor.probes import FILE_VARIABLE, probed
from depyf.links.inductor.statements import parameters
from depyf.model.bits_log import FILE, CallRow, LaunchRow, ModuleRow, ResultRow, facts_line, line_of, stop_line
from depyf.torch.adapters import seams
from depyf.torch.adapters.graph_inputs import CapturedGraph, captured_graph, gradient_index, input_index
from depyf.torch.adapters.inductor_modules import Written, rewritten
from depyf.torch.adapters.versions import python_version, torch_version
from depyf.torch.bits.edges import LaunchRun, selected_item, written_parameters
from depyf.torch.bits.hashes import hash_of, is_hashable
from depyf.torch.bits.kept import Place, save_launch
from depyf.torch.bits.reference import origin_of
from depyf.torch.bits.trials import all_of
from depyf.torch.numerics.places import user_line
from depyf.torch.numerics.probing import written_values

MOST_TENSORS = 2_000_000
"""The most tensors that are recorded for a process. Their lines take about 100 MB."""

Hash = Callable[[], str]

_NUMBER = re.compile(r"_\d+\b")


@dataclass(slots=True)
class _Module:
    """A module of Inductor's, while the program runs."""

    row: ModuleRow
    graph: Graph
    nodes: dict[str, torch.fx.Node]
    launches: list[Launch]
    texts: dict[str, str]
    followed: dict[int, Launched]
    libraries: dict[int, str]
    described: dict[int, LaunchRow] = field(default_factory=dict)
    written: dict[int, tuple[tuple[int, str, str], ...]] = field(default_factory=dict)
    calls: int = 0
    running: _Call | None = None

    def results_written(self, index: int, arguments: tuple[Any, ...]) -> tuple[tuple[int, str, str], ...]:
        """Return the results of a launch: the position among its arguments, the parameter, and the node of each."""
        known = self.written.get(index)
        if known is None:
            followed = self.followed.get(index)
            names = parameters(followed.kernel) if followed is not None else ()
            values = dict(zip(names, arguments))
            written = written_parameters(followed, values) if followed is not None else []
            places = {name: place for place, name in enumerate(values)}
            after = followed.after if followed is not None else {}
            known = tuple((places[name], name, after.get(name, "")) for name in written)
            self.written[index] = known
        return known


@dataclass(slots=True)
class _Call:
    """A call that runs: the hashes of its inputs, and each finished launch with its results."""

    number: int
    inputs: list[Hash]
    indexes: list[int] = field(default_factory=list)
    launches: list[list[Hash]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Command:
    """How a program is run: the arguments of Python, and the settings of `--set`."""

    arguments: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)


class BitsRecorder:
    """Records the bits of a process into a folder, from `begin` to `end`.

    Args:
        directory: the folder of the file.
        command: how the program is run. Its settings hold from `begin` to `end`.
        keep: the launch whose values are kept, if any.

    Raises:
        ValueError: Inductor has no such setting.
    """

    def __init__(self, directory: Path, command: Command, keep: Place | None = None) -> None:
        self._setting = all_of(command.settings)
        self._path, self._command, self._keep = directory / FILE, command, keep
        self._modules: list[_Module] = []
        self._captured: dict[str, CapturedGraph] = {}
        self._undo = ExitStack()
        self._file: TextIO | None = None
        self._tensors = 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Begin: modules that Inductor writes from now on are recorded.

        Raises:
            OSError: the file cannot be written.
        """
        self._undo.enter_context(self._setting())
        self._file = self._path.open("w", encoding="utf-8")
        kept = {} if self._keep is None else {"kept": str(self._keep)}
        self._file.write(facts_line(facts_of_run(self._command) | kept))
        _RECORDERS.append(self)
        self._undo.callback(_RECORDERS.remove, self)
        self._undo.enter_context(rewritten(self._with_probes))

    def end(self) -> None:
        """End the recording, and close the file."""
        self._undo.close()
        with self._lock:
            file, self._file = self._file, None
        if file is not None:
            file.close()

    def _with_probes(self, written: Written) -> str:
        module = read_module(written.text)
        graph = read_graph(seams.graph_text(written.graph))
        by_launch = {id(followed.launch): followed for followed in launched(module, graph, written.computed)}
        followed = {
            index: by_launch[id(launch)] for index, launch in enumerate(module.launches) if id(launch) in by_launch
        }
        nodes = {node.name: node for node in written.graph.graph.nodes}
        key = len(self._modules)
        current = seams.current_compile()
        compile_id = str(current[0]) if current is not None else ""
        if not written.is_backward:
            self._captured[compile_id] = captured_graph()
        captured = self._captured.get(compile_id, CapturedGraph())
        inputs = tuple(_input_name(node, captured) for node in nodes.values() if node.op == "placeholder")
        part = "backward" if written.is_backward else "forward"
        texts = {name: kernel.text for name, kernel in module.kernels.items()}
        row = ModuleRow(key, compile_id, captured.function, part, inputs, (), changed_options())
        libraries = library_results(module, graph, written.computed)
        self._modules.append(_Module(row, graph, nodes, module.launches, texts, followed, libraries))
        inside = self._keep is not None and self._keep.module == key
        inside = inside and all(kernel.language == "cpp" for kernel in module.kernels.values())
        return probed(written.text, module, __name__, key, inside=inside, libraries=True)

    def called(self, key: int, call: Callable[[list[Any]], Any], args: list[Any]) -> Any:
        """Run a module, and write the line of its call.

        Args:
            key: the number of the module.
            call: runs the module.
            args: its inputs, which are hashed before it runs.
        """
        module = self._modules[key]
        if self._file is None:
            return call(args)
        module.running = _Call(module.calls, [_begun(value) for value in args])
        module.calls += 1
        is_kept = self._keep is not None and (key, module.running.number) == (self._keep.module, self._keep.call)
        if is_kept:
            os.environ[FILE_VARIABLE] = str(self._path.with_name("values"))
        try:
            return call(args)
        finally:
            if is_kept:
                os.environ.pop(FILE_VARIABLE, None)
            self._write(module, module.running)
            module.running = None

    def _write(self, module: _Module, running: _Call) -> None:
        launches = tuple(tuple(result() for result in results) for results in running.launches)
        inputs = tuple(value() for value in running.inputs)
        row = module.row
        with self._lock:
            if self._file is None:
                return
            if not running.number:
                described = tuple(module.described[index] for index in running.indexes)
                self._file.write(line_of(replace(row, launches=described)))
            self._file.write(line_of(CallRow(row.number, running.number, inputs, launches)))
            self._file.flush()
            self._tensors += len(inputs) + sum(map(len, launches))
            if self._tensors > MOST_TENSORS:
                self._file.write(stop_line(f"{MOST_TENSORS} tensors were recorded"))
                self._file.close()
                self._file = None

    def launch_ended(self, key: int, index: int, results: list[tuple[str, str, Tensor]]) -> None:
        """Note the results of a launch.

        Args:
            key: the number of the module.
            index: the position of the launch in the module's text.
            results: the parameter, the node and the tensor of each result.
        """
        module = self._modules[key]
        running = module.running
        if running is None:
            return
        if index not in module.described:
            module.described[index] = self._described(module, index, results)
        position = len(running.launches)
        running.indexes.append(index)
        running.launches.append([_begun(value) for _, _, value in results])
        keep = self._keep
        if keep is not None and (keep.module, keep.call) == (key, running.number):
            lines = self._lines()
            if keep.launch == position:
                launch = LaunchRun(module.launches[index], module.followed.get(index), results, lines)
                save_launch(self._path.parent, launch, module.described[index])

    def _described(self, module: _Module, index: int, results: list[tuple[str, str, Tensor]]) -> LaunchRow:
        kernel = module.launches[index].kernel
        text = module.texts.get(kernel, "")
        hashed = f"{zlib.crc32(_NUMBER.sub('', text).encode()):08x}" if text else ""
        rows = (_result_row(parameter, module.nodes.get(node)) for parameter, node, _ in results)
        return LaunchRow(kernel, hashed, tuple(rows))

    def _lines(self) -> dict[int, Tensor]:
        path = self._path.with_name("values")
        return dict(written_values(path)) if path.exists() else {}

    def results_of(self, key: int, index: int, arguments: tuple[Any, ...]) -> list[tuple[str, str, Tensor]]:
        """Return the results of a launch of a kernel of Inductor's: the parameter, the node and the tensor of each.

        Args:
            key: the number of the module.
            index: the position of the launch in the module's text.
            arguments: the arguments of the launch.
        """
        written = self._modules[key].results_written(index, arguments)
        return [(name, node, arguments[place]) for place, name, node in written]

    def results_of_library(self, key: int, index: int, result: object) -> list[tuple[str, str, Tensor]]:
        """Return the results of a library's kernel, as `results_of` does.

        Args:
            key: the number of the module.
            index: the position of the launch in the module's text.
            result: what the kernel returned.
        """
        module = self._modules[key]
        node = module.libraries.get(index, "")
        if isinstance(result, Tensor):
            return [("", node, result)]
        if not isinstance(result, (tuple, list)):
            return []
        items = [(position, item) for position, item in enumerate(result) if isinstance(item, Tensor)]
        known = module.written.get(index)
        if known is None:
            nodes = [selected_item(module.nodes.values(), module.graph, node, position) for position, _ in items]
            known = tuple((position, "", name) for (position, _), name in zip(items, nodes))
            module.written[index] = known
        return [("", name, result[position]) for position, _, name in known]


_RECORDERS: list[BitsRecorder] = []


def watched(key: int, call: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """Wrap the function of a module that runs the graph."""
    recorder = _RECORDERS[-1]
    return lambda args: recorder.called(key, call, args)


def ran(key: int, index: int, arguments: tuple[Any, ...]) -> None:
    """Note a finished launch of a kernel of Inductor's.

    Args:
        key: the number of the module.
        index: the position of the launch in the module's text.
        arguments: the arguments of the launch.
    """
    for recorder in _RECORDERS[-1:]:
        recorder.launch_ended(key, index, recorder.results_of(key, index, arguments))


def returned(key: int, index: int, result: object) -> None:
    """Note a finished call of a library's kernel.

    Args:
        key: the number of the module.
        index: the position of the call in the module's text.
        result: what the kernel returned.
    """
    for recorder in _RECORDERS[-1:]:
        recorder.launch_ended(key, index, recorder.results_of_library(key, index, result))


def _begun(value: object) -> Hash:
    if is_hashable(value):
        assert isinstance(value, Tensor)
        return hash_of(value)
    text = repr(value) if isinstance(value, (bool, int, float, torch.SymInt)) else ""
    return lambda: text


def _input_name(node: torch.fx.Node, captured: CapturedGraph) -> str:
    """Return the name of an input of a lowered graph, as the program spells it."""
    index, result = input_index(node), gradient_index(node)
    if index is not None and index < len(captured.inputs):
        return captured.inputs[index]
    return f"the gradient of result {result}" if result is not None else node.name


def _result_row(parameter: str, node: torch.fx.Node | None) -> ResultRow:
    if node is None:
        return ResultRow(parameter, "")
    origin = origin_of(node) or str(node.meta.get("original_aten") or node.target)
    return ResultRow(parameter, node.name, origin, user_line(node))


def facts_of_run(command: Command) -> dict[str, Any]:
    """Return the facts by which two runs may differ, and how to run the program again."""
    names = ("TORCH", "OMP_", "MKL_", "CUDA_", "ATEN_", "NCCL_", "CUBLAS_", "TRITON_", "PYTHONHASHSEED", "RANK")
    environment = {name: value for name, value in sorted(os.environ.items()) if name.startswith(names)}
    return {
        "torch": torch_version(),
        "python": python_version(),
        "machine": f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}",
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
        "threads": torch.get_num_threads(),
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "environment": environment,
        "command": shlex.join([sys.executable, *command.arguments]),
        "set": {name: repr(value) for name, value in command.settings.items()},
        "directory": os.getcwd(),
    }


def changed_options() -> dict[str, str]:
    """Return the options of Inductor that are not the default now, as text. Those of caches and logs are left out."""
    from torch._inductor import config

    entries = getattr(config, "_config", {})
    values = {name: value for name, value in config.get_config_copy().items() if not _UNIMPORTANT.search(name)}
    changed = ((name, value) for name, value in values.items() if _default(entries.get(name), value) != value)
    return {name: repr(value) for name, value in changed if isinstance(value, (bool, int, float, str, type(None)))}


def _default(entry: object, value: object) -> object:
    """Return the default of an option; before 2.6 an entry of the table is the value itself."""
    return getattr(entry, "default", value)


_UNIMPORTANT = re.compile(r"cache|trace|debug|compile_threads|worker|log|dir")
