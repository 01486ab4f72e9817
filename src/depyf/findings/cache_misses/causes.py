"""The difference between the keys of two cache entries, as one cause and its consequences.

before:
    gm: GraphModule() ... sin = torch.ops.aten.sin.default(arg0_1)
after:
    graph: `sin = torch.ops.aten.sin.default(arg0_1)` became `cos = torch.ops.aten.cos.default(arg0_1)`
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from depyf.findings.cache_misses.kernel_causes import FIRST, OF_KERNELS, is_of_kernel, kernel_causes
from depyf.findings.cache_misses.key import Part, Record
from depyf.findings.cache_misses.lines import Cause, of_lines, pairs_of, short

KINDS = (
    *("torch version", *FIRST, "device", "process group", "input dtype", "input device", "input shape"),
    *("input", "constant", "graph", *OF_KERNELS, "custom pass", "C++ flag", "torch setting", "config"),
    *("compile option", "other"),
)
"""The kinds of causes, most fundamental first: if inputs and graph differ, the graph differs because of its inputs."""

SETTINGS = {
    "deterministic_algorithms_settings": "`torch.use_deterministic_algorithms` (on, warn only, fill memory)",
    "cuda_matmul_settings": "`torch.backends.cuda.matmul` (precision, reduced fp16, reduced bf16)",
    "default_dtype": "`torch.set_default_dtype`",
    "cpp_runtime_thread_count": "the number of threads (`torch.set_num_threads`)",
    "provenance_tracking_level": "`INDUCTOR_PROVENANCE`",
    "grad_enabled": "gradient mode",
}
"""Components of the key that are settings of torch, and how a user sets them."""

_INPUT = re.compile(r"example_inputs\[(?P<place>\d+)\]$")
_FIELD = re.compile(r"(?P<name>\w+)=(?P<value>torch\.Size\(\[[^\]]*\]\)|\([^()]*\)|device\([^()]*\)|[^,()]+)")
_CONFIG = re.compile(r"(?:inductor_config|dynamo_config|functorch_config|autograd_config)\[(?P<name>.+)\]$")
_GROUP = re.compile(r"_c10d_functional|torch\.ops\.(?:c10d|symm_mem)")
_CONSTANT = re.compile(r"'[^']*'|\"[^\"]*\"|(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
_OTHER_SIZE = frozenset({"shape", "stride", "storage_offset", "storage_bytes", "is_contiguous", "memory_format"})


def distance(first: Record, other: Record) -> int:
    """Return the number of components in which two keys differ."""
    return sum(_digest(first, name) != _digest(other, name) for name in {*first.parts, *other.parts})


def cause(before: Record, after: Record) -> Cause | None:
    """Return why the key `after` differs from `before`; None if they are equal or torch gives no components."""
    candidates = [
        candidate
        for name in dict.fromkeys((*after.parts, *before.parts))
        for candidate in _of_part(name, before, after)
    ]
    if not candidates:
        return None
    first = min(candidates, key=lambda candidate: KINDS.index(candidate.kind))
    others = dict.fromkeys(candidate.subject for candidate in candidates if candidate.subject != first.subject)
    return replace(first, follows=tuple(others))


def _values(record: Record) -> dict[str, str]:
    return {name: part.value for name, part in record.parts.items()}


def _digest(record: Record, name: str) -> str:
    part = record.parts.get(name)
    return part.digest if part is not None else ""


def _of_part(name: str, before: Record, after: Record) -> Iterator[Cause]:
    if _digest(before, name) == _digest(after, name):
        return
    nothing = Part("", "nothing")
    old, other = before.parts.get(name, nothing).value, after.parts.get(name, nothing).value
    place = _INPUT.match(name)
    config = _CONFIG.match(name)
    if name == "gm":
        yield _of_graph(old, other)
    elif place is not None:
        yield _of_input(int(place["place"]), old, other)
    elif "custom" in name and ("pass" in name or "partitioner" in name):
        yield Cause("custom pass", f"`{config['name'] if config else name}`", short(old), short(other))
    elif "triton" in name and "source" in name:
        yield of_lines("Triton kernel", "a kernel of yours", old, other)
    elif config is not None:
        kind = "C++ flag" if config["name"].startswith(("cpp.", "aot_inductor.")) else "config"
        yield Cause(kind, f"`{config['name']}`{_variable(config['name'])}", short(old), short(other))
    elif is_of_kernel(name):
        yield from kernel_causes(name, _values(before), _values(after))
    else:
        yield _of_process(name, old, other)


def _of_process(name: str, before: str, after: str) -> Cause:
    """Return the cause for a component that is the same for all graphs of a process, or that depyf does not know."""
    if name == "torch_version":
        return Cause("torch version", "another build of torch", "one", "another")
    if name.startswith("system_info"):
        return Cause("device", f"the device or its driver (`{name}`)", short(before), short(after))
    if name in SETTINGS:
        return Cause("torch setting", SETTINGS[name], short(before), short(after))
    kind = "compile option" if name.startswith("fx_kwargs") else "other"
    return Cause(kind, f"`{name}`", short(before), short(after))


def _of_input(place: int, before: str, after: str) -> Cause:
    old, other = _fields(before), _fields(after)
    changed = [name for name in dict.fromkeys((*old, *other)) if old.get(name) != other.get(name)]
    subject = f"input {place} of the graph"
    if bool(old) != bool(other):  # A tensor has fields. A size that has become dynamic is an input of its own.
        return Cause("input", subject, _kind(old), _kind(other))
    for kind, names in (("input dtype", {"dtype"}), ("input device", {"device"}), ("input shape", _OTHER_SIZE)):
        differing = [name for name in changed if name in names]
        if differing:
            return Cause(kind, subject, _told(differing, old), _told(differing, other))
    if changed:
        return Cause("input", subject, _told(changed, old), _told(changed, other))
    return Cause("input", subject, short(before), short(after))


def _kind(fields: Mapping[str, str]) -> str:
    return "a tensor" if fields else "a number"


def _told(names: list[str], values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {values.get(name, '?')}" for name in names)


def _fields(value: str) -> dict[str, str]:
    return {match["name"]: match["value"] for match in _FIELD.finditer(value)}


def _of_graph(before: str, after: str) -> Cause:
    difference = of_lines("graph", "a line of the graph", before, after)
    pairs = pairs_of(before, after)
    if pairs and all(_CONSTANT.sub("…", old) == _CONSTANT.sub("…", other) for old, other in pairs):
        before_line, other = pairs[0]
        values = [(a, b) for a, b in zip(_CONSTANT.findall(before_line), _CONSTANT.findall(other)) if a != b]
        if values:
            is_group = _GROUP.search(before_line) is not None and _is_text(values[0][0])
            kind, what = ("process group", "its name") if is_group else ("constant", "a constant")
            subject, (old, new) = f"{what} in `{other.strip()}`", values[0]
            return replace(difference, kind=kind, subject=subject, before=old, after=new)
    return difference


def _is_text(literal: str) -> bool:
    try:
        return isinstance(ast.literal_eval(literal), str)
    except (ValueError, SyntaxError):
        return False


def _variable(name: str) -> str:
    """Return the environment variable for one of Inductor's settings, if torch derives its name from the setting's."""
    return f" (`{VARIABLES[name]}`)" if name in VARIABLES else ""


VARIABLES: Mapping[str, str] = {
    "max_autotune": "TORCHINDUCTOR_MAX_AUTOTUNE",
    "max_autotune_gemm": "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM",
    "max_autotune_pointwise": "TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE",
    "max_autotune_gemm_backends": "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS",
    "coordinate_descent_tuning": "TORCHINDUCTOR_COORDINATE_DESCENT_TUNING",
    "freezing": "TORCHINDUCTOR_FREEZING",
    "layout_optimization": "TORCHINDUCTOR_LAYOUT_OPTIMIZATION",
    "cpp_wrapper": "TORCHINDUCTOR_CPP_WRAPPER",
    "cpp.min_chunk_size": "TORCHINDUCTOR_CPP_MIN_CHUNK_SIZE",
    "cpp.gemm_cache_blocking": "TORCHINDUCTOR_CPP_GEMM_CACHE_BLOCKING",
    "cpp.gemm_max_k_slices": "TORCHINDUCTOR_CPP_GEMM_MAX_K_SLICES",
    "deterministic": "TORCHINDUCTOR_DETERMINISTIC",
    "emulate_precision_casts": "TORCHINDUCTOR_EMULATE_PRECISION_CASTS",
    "comprehensive_padding": "TORCHINDUCTOR_COMPREHENSIVE_PADDING",
    "shape_padding": "TORCHINDUCTOR_SHAPE_PADDING",
    "permute_fusion": "TORCHINDUCTOR_PERMUTE_FUSION",
    "benchmark_kernel": "TORCHINDUCTOR_BENCHMARK_KERNEL",
    "unique_kernel_names": "TORCHINDUCTOR_UNIQUE_KERNEL_NAMES",
}
"""The environment variables of Inductor's settings."""
