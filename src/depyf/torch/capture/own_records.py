"""Turn depyf's other observations into records of torch's trace: cache lookups for kernels, lines about CUDA graphs."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from depyf.model.run import CompileId
from depyf.torch.adapters import seams
from depyf.torch.adapters.kernel_caches.look import KernelLook
from depyf.trace import cuda_graphs


def record_of(look: KernelLook) -> tuple[dict[str, Any], str]:
    """Return the metadata and the payload of a lookup. It belongs to the running compile, if there is one."""
    outcome = "hit" if look.is_hit else "miss"
    metadata: dict[str, Any] = {"artifact": {"name": f"{look.cache}_cache_{outcome}", "encoding": "json"}}
    components = [f"[{hashlib.sha256(text.encode()).hexdigest()}] {name}: {text}" for name, text in look.parts.items()]
    took = "time_saved_ns" if look.is_hit else "time_taken_ns"
    payload = {"key": look.key, "components": components, took: round(look.seconds * 1e9)}
    return metadata | _ids(seams.current_compile()), json.dumps(payload, indent=1)


def line_about(about: tuple[CompileId, int] | None, part: str) -> dict[str, Any]:
    """Return the metadata of a line of torch's log of CUDA graphs, about a part of a compile."""
    return {"artifact": {"name": cuda_graphs.LOG, "encoding": "string", "part": part}} | _ids(about)


def _ids(about: tuple[CompileId, int] | None) -> dict[str, int]:
    if about is None:
        return {}
    compile_id, attempt = about
    ids = {"frame_id": compile_id.frame, "frame_compile_id": compile_id.compile, "attempt": attempt}
    return ids | ({"compiled_autograd_id": compile_id.autograd} if compile_id.autograd >= 0 else {})
