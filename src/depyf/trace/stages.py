"""The stage of the compiler for each record of torch's structured trace.

The names of records and artefacts change between releases, so a stage lists all its names. A record without a row is
kept under its own name, as a graph if its text is one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from depyf.bytecode.patterns import pattern
from depyf.bytecode.records import dataclass
from depyf.model.run import Artefact, Dialect


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of the compiler: the word in file names, the language of its text, and torch's names for its record."""

    word: str
    dialect: Dialect
    names: tuple[str, ...]


STAGES = (
    Stage("Captured_Graph", Dialect.GRAPH, ("dynamo_output_graph",)),
    Stage("BEFORE_PRE_GRAD", Dialect.GRAPH, ("before_pre_grad_graph",)),
    Stage("AFTER_PRE_GRAD", Dialect.GRAPH, ("after_pre_grad_graph",)),
    Stage("Joint_graph", Dialect.GRAPH, ("aot_joint_graph",)),
    Stage("BEFORE_JOINT_PASSES", Dialect.GRAPH, ("before_joint_graph",)),
    Stage("AFTER_JOINT_PASSES", Dialect.GRAPH, ("after_joint_graph",)),
    # An inference graph is the forward graph of a program without gradients. Users look for one name.
    Stage("Forward_graph", Dialect.GRAPH, ("aot_forward_graph", "aot_inference_graph")),
    Stage("Backward_graph", Dialect.GRAPH, ("aot_backward_graph",)),
    Stage("BEFORE_POST_GRAD", Dialect.GRAPH, ("before_post_grad_graph",)),
    Stage("AFTER_POST_GRAD", Dialect.GRAPH, ("inductor_post_grad_graph", "after_post_grad_graph")),
    Stage("Compiled_autograd_graph", Dialect.GRAPH, ("compiled_autograd_graph",)),
    Stage("Compiled_autograd_graph_as_traced", Dialect.GRAPH, ("compiled_autograd_graph_pre_reordering",)),
    Stage("kernel", Dialect.KERNEL, ("inductor_output_code",)),
    Stage("AOT_Inductor_kernels", Dialect.CPP, ("inductor_aot_kernel_code",)),
    Stage("AOT_Inductor_wrapper", Dialect.CPP, ("inductor_aot_wrapper_code",)),
    Stage("AOT_runtime_wrapper", Dialect.PYTHON, ("runtime_wrapper_orchestration", "aot_autograd_runtime_wrappers")),
    Stage("AOT_compiled_fn_wrapper", Dialect.PYTHON, ("compiled_fn_wrapper",)),
    Stage("AOT_forward", Dialect.PYTHON, ("compiled_function_forward",)),
    Stage("AOT_backward", Dialect.PYTHON, ("compiled_function_backward",)),
    Stage("AOT_backward_prologue", Dialect.PYTHON, ("backward_prologue",)),
    Stage("AOT_backward_epilogue", Dialect.PYTHON, ("backward_epilogue",)),
    Stage("AOT_output_alias_wrapper", Dialect.PYTHON, ("output_alias_wrapper",)),
    Stage("AOT_mutation_epilogue", Dialect.PYTHON, ("mutation_epilogue",)),
    Stage("AOT_dedup_wrapper", Dialect.PYTHON, ("dedup_wrapper",)),
    Stage("AOT_synthetic_base_wrapper", Dialect.PYTHON, ("synthetic_base_wrapper",)),
    Stage("AOT_subclass_wrapper", Dialect.PYTHON, ("subclass_wrapper",)),
    Stage("AOT_effect_tokens_wrapper", Dialect.PYTHON, ("effect_tokens_wrapper",)),
    Stage("AOT_rng_wrapper", Dialect.PYTHON, ("functionalized_rng_wrapper",)),
)

STAGE_OF_NAME = {name: stage for stage in STAGES for name in stage.names}

CAPTURED = "Captured_Graph"
"""The stage with which a graph begins."""
EXPORTED = "exported_program"
"""The graph of an export."""

_PRINTED_GRAPH = pattern(r"\s*class \S+\(torch\.nn\.Module\):\n +def forward\(self")


def dialect_of(text: str, encoding: object) -> Dialect:
    """Return the language of the text of a record without a row; `encoding` is torch's word for it."""
    if encoding == "json":
        return Dialect.JSON
    return Dialect.GRAPH if _PRINTED_GRAPH.match(text) else Dialect.TEXT


FRAME_STARTS = "dynamo_start"
FRAME_ENDS = "compilation_metrics"
BACKWARD_ENDS = "bwd_compilation_metrics"
GUARD_TREE = "dynamo_cpp_guards_str"
INTERNED_STRING = "str"
SAVED = "dynamo_cache_entries"
"""The content of Dynamo's cache of compiled functions when a program saves it."""
ARTEFACT = "artifact"
BREAK_REASON = "dynamo_graph_break_reason"
RECOMPILE_REASONS = "recompile_reasons"
RUNNABLE = "fx_graph_runnable"
METADATA = ("aot_forward_graph_fw_metadata", "aot_forward_graph_fw_subclass_metadata")
SIDE_EFFECTS = "dynamo_side_effects"

PHASES = {
    FRAME_STARTS: "Dynamo",
    "dynamo_output_graph": "the backend",
    "aot_joint_graph": "AOTAutograd",
    "before_joint_graph": "AOTAutograd",
    "aot_forward_graph": "the compiler of the forward graph",
    "aot_inference_graph": "the compiler of the graph",
    "before_post_grad_graph": "Inductor",
    "inductor_post_grad_graph": "Inductor",
    "inductor_output_code": "the compiler of kernels (C++, Triton)",
    GUARD_TREE: "Dynamo, with the guards",
}
"""The phase of the compiler that begins with a record."""

BYTECODE_SUFFIXES = ("_ORIGINAL_BYTECODE", "_MODIFIED_BYTECODE")
"""Listings that depyf writes itself, for every frame and not only for resume functions."""

SHAPE_FACTS = frozenset(
    {
        "symbolic_shape_specialization",
        "guard_added",
        "guard_added_fast",
        "create_unbacked_symbol",
        "propagate_real_tensors_provenance",
        "missing_fake_kernel",
        "mismatched_fake_kernel",
    }
)
"""torch's decisions about symbolic shapes, and its guesses for an export."""

PGO = "pgo"
"""The cache of varying sizes: profile-guided optimization."""

KERNEL_CACHES = ("cpp", "triton", "autotune")
"""The caches of kernels: C++ libraries, Triton's binaries, tuned configurations. Only a live capture has them."""

CACHES = {
    f"{cache}_cache_{outcome}": (cache, outcome)
    for cache in ("fx_graph", "aotautograd", *KERNEL_CACHES)
    for outcome in ("hit", "miss", "bypass")
} | {f"get_{where}_code_state": (PGO, "hit") for where in ("local", "remote")}
"""The cache and the outcome of the lookup for each kind of record."""

OF_KERNELS = frozenset(kind for kind, (cache, _) in CACHES.items() if cache in KERNEL_CACHES)
"""The kinds of records of lookups for kernels."""

PGO_WRITTEN = frozenset({"put_local_code_state", "put_remote_code_state"})
"""The varying sizes of a job, which torch keeps for its next run. It reads them once, and records only a hit."""

TIMELINE = "chromium_event"
UNINTERESTING = frozenset(
    {
        TIMELINE,
        "describe_storage",
        "describe_tensor",
        "describe_source",
        "create_symbol",
        "expression_created",
        "dynamo_guards",
        "torch._functorch.config",
        "dump_file",
        "stack",
        "link",
    }
)
"""Timeline events, settings and bookkeeping of torch's own log reader, which a capture leaves out."""

ONLY_BOOKKEEPING = UNINTERESTING - {"torch._functorch.config", "dynamo_guards", "link", "dump_file", "stack"}
"""The stages that the report of a trace omits: the ids of values, and the timeline, which `--perfetto` writes."""

_AOT_ID = pattern(r"^# AOT ID: \['\d+_(\w+)'\]", re.MULTILINE)
"""Inductor's note on the part of its module: `forward`, `backward`, or `inference`."""


def artefact_of(kind: str, details: Mapping[str, Any], payload: str, attempt: int) -> Artefact:
    """Return the artefact in a record with a payload.

    Args:
        kind: torch's name for the record.
        details: the metadata of the record.
        payload: the text of the artefact.
        attempt: how often Dynamo had restarted the compile before.
    """
    stage = STAGE_OF_NAME.get(kind)
    origin = str(details.get("filename") or "")
    if stage is not None:
        part = _AOT_ID.search(payload) if stage.dialect is Dialect.KERNEL else None
        return Artefact(stage.word, stage.dialect, payload, part[1] if part else "", attempt=attempt, origin=origin)
    return Artefact(kind, dialect_of(payload, details.get("encoding")), payload, attempt=attempt, origin=origin)
