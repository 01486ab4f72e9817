"""The stage of the compiler for each of torch's timeline events."""

from __future__ import annotations

import re

from depyf.model.compile_times import COLLECTOR, IMPORTS, REST

TRACING = "tracing"
GUARDS = "guards"
CODE = "Dynamo's code"
BACKEND = "backend"
AOT = "AOTAutograd"
JOINT = "joint graph"
PARTITION = "partition"
PASSES = "graph passes"
LOWERING = "lowering"
SCHEDULING = "scheduling"
GENERATION = "code generation"
CPP = "C++ compiler"
TRITON = "Triton compiler"
TUNING = "autotuning"
CACHES = "cache lookup"
WAITING = "waiting for compilers"
LOADING = "loading kernels"
REGIONS = "regional reuse"

STAGES = {
    TRACING: ("bytecode_tracing", "fullgraph_capture", "insert_deferred_runtime_asserts"),
    GUARDS: ("build_guards", "precompile_load_guards", "precompile_build_guards"),
    CODE: ("compile_attempt_*", "bytecode_hooks_*", "compiler_collective", "debug_insert_nops"),
    BACKEND: ("backend_compile", "OutputGraph.call_user_compiler"),
    AOT: (
        *("create_aot_dispatcher_function", "aot_collect_metadata", "compile_fx.<locals>.*"),
        "entire_backward_compile",  # at its first call, the wrapper of the forward compiles the backward
    ),
    JOINT: ("aot_trace_joint_graph", "aot_trace_*"),
    PARTITION: ("min_cut_rematerialization_partition", "default_partition"),
    PASSES: ("_recursive_*_passes", "pass.*", "convert_conv_weights_to_channels_last", "fx.bucketing.*"),
    LOWERING: ("GraphLowering.run", "fx_codegen_and_compile", "additional_fake_tensor_prop", "inductor_compile"),
    SCHEDULING: ("Scheduler.__init__", "Scheduler.fused_nodes", "collective_compute_do_bench"),
    GENERATION: (
        *("Scheduler.codegen", "GraphLowering.codegen*", "GraphLowering.compile_to_*", "*Codegen.generate", "code_gen"),
        *("generate_kernel_code_from_nodes", "Cpp*.generate"),
    ),
    CPP: ("compile_file", "aoti_compile_fatbin", "aoti_precompile_header", "cpp_compile*"),
    TRITON: ("async_compile.precompile", "CachingAutotuner.slow_precompile_config", "reload_kernel_in_parent"),
    TUNING: (
        *("CachingAutotuner.*", "*autotun*", "benchmark_*", "*do_bench*", "compile_time_autotuning*"),
        *("CUTLASS*", "cutlass_utils.*", "AlgorithmSelectorCache*", "*precompil*templat*"),
    ),
    CACHES: (
        *("inductor_codecache_torch_key", "CacheBase.*", "FxGraphCache*", "fx_graph_cache*", "AOTAutogradCache*"),
        *("autograd_cache*", "pgo.*", "TritonBundler.*", "GraphPickler.*", "remote_*", "CompiledArtifact.*"),
        *("StaticAutotunerFuture.*", "*get_*_cache*", "dynamo_cache*", "DynamoCache*", "*PrecompileContext*"),
    ),
    WAITING: ("async_compile.wait",),
    LOADING: ("PyCodeCache.load_by_key_path", "cudagraph*"),
    IMPORTS: ("inductor_import",),
    COLLECTOR: ("gc",),
    REGIONS: ("invoke_subgraph_*",),
    REST: ("dynamo", "_compile.compile_inner", "entire_frame_compile"),
}
"""torch's names of the events of each stage, as shell patterns. A name is looked up from the top."""

OUTERMOST = ("dynamo", "_compile.compile_inner", "entire_frame_compile", "entire_backward_compile")
"""The events that begin a compile, the last one that of a backward.

Of the first three, each lies inside the one before, as far as a torch has it.
"""

_PATTERNS = [
    (stage, re.compile("|".join(re.escape(name).replace(r"\*", ".*") for name in names)))
    for stage, names in STAGES.items()
]
_KNOWN: dict[str, str | None] = {}


def stage_of(event: str) -> str | None:
    """Return the stage of an event by its name; None for an unknown one, which belongs to the event around it.

    >>> stage_of("Scheduler.codegen"), stage_of("pass.joint_graph_passes.pass_pattern_0"), stage_of("compile_attempt_1")
    ('code generation', 'graph passes', "Dynamo's code")
    """
    if event not in _KNOWN:
        _KNOWN[event] = next((stage for stage, names in _PATTERNS if names.fullmatch(event)), None)
    return _KNOWN[event]
