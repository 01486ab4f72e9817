"""A look into a cache of kernels as a record of torch's trace, as torch itself writes of its caches of graphs."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from depyf.torch.adapters import seams
from depyf.torch.adapters.kernel_caches.look import KernelLook


def record_of(look: KernelLook) -> tuple[dict[str, Any], str]:
    """Return the metadata and the payload of a record; it belongs to the compile that runs, where there is one."""
    outcome = "hit" if look.is_hit else "miss"
    metadata: dict[str, Any] = {"artifact": {"name": f"{look.cache}_cache_{outcome}", "encoding": "json"}}
    current = seams.current_compile()
    if current is not None:
        compile_id, attempt = current
        metadata |= {"frame_id": compile_id.frame, "frame_compile_id": compile_id.compile, "attempt": attempt}
        metadata |= {"compiled_autograd_id": compile_id.autograd} if compile_id.autograd >= 0 else {}
    components = [f"[{hashlib.sha256(text.encode()).hexdigest()}] {name}: {text}" for name, text in look.parts.items()]
    took = "time_saved_ns" if look.is_hit else "time_taken_ns"
    payload = {"key": look.key, "components": components, took: round(look.seconds * 1e9)}
    return metadata, json.dumps(payload, indent=1)
