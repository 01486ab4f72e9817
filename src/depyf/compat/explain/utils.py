"""Functions that clients of earlier releases call inside a compile."""

from __future__ import annotations

import itertools
from pathlib import Path


def get_current_compiled_fn_name() -> str:
    """Return the name of the graph that is being compiled, `__compiled_fn_<k>`. `k` is 0 outside a compile."""
    from depyf.torch.capture.prepare import current_context

    context = current_context()
    return context.current_graph() if context is not None else "__compiled_fn_0"


def write_code_to_file_template(src: str, path_template: str) -> str:
    """Write `src` to the first file `path_template % number`, that is free or has this content; return its path.

    Raises:
        OSError: the file cannot be written.
    """
    from depyf.model.writer import write_whole

    for number in itertools.count():
        path = Path(path_template % number)
        if not path.exists():
            write_whole(path, src)
            return str(path)
        if path.read_text(encoding="utf-8") == src:
            return str(path)
    raise AssertionError("the numbers are endless")
