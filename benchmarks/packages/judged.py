"""Decompile and prove modules; print a line of JSON for each.

Runs alone under any Python that depyf runs on. The argument is the folder to import depyf from. The sources come on
standard input: a path each line, or `-`, a name, and the source as a JSON string.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterator


def main() -> None:
    """Judge every source that standard input names."""
    sys.path.insert(0, sys.argv[1])
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(10_000)
    for name, text in sources():
        print(json.dumps({"name": name, **judged(name, text)}), flush=True)


def sources() -> Iterator[tuple[str, bytes]]:
    """Yield names and sources."""
    for line in sys.stdin:
        path = line.rstrip("\n")
        if path.startswith("- "):
            _, name, text = path.split(" ", 2)
            yield name, json.loads(text).encode("utf-8", "surrogatepass")
        else:
            with open(path, "rb") as file:
                yield path, file.read()


def judged(name: str, text: bytes) -> dict[str, object]:
    """Return what becomes of a source: a status, why, seconds, and whether some of it is dispatched."""
    from depyf.bytecode.reader import read
    from depyf.decompiler.module import judge, module_source

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = compile(text, "<module>", "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"status": "invalid", "reason": str(error), "seconds": 0.0}
    start = time.process_time()
    try:
        code = read(compiled)
        source = module_source(code)
        alone = time.process_time() - start
        verdict = judge(code, source)
    except Exception as error:  # noqa: BLE001  what it raises is what is measured
        reason = f"{type(error).__name__}: {error}"
        return {"status": "FAILED", "reason": reason, "seconds": time.process_time() - start}
    status = verdict.level.name
    if status == "UNPROVEN" and "does not compile" in verdict.reason:
        status = "NOT COMPILED"
    return {
        "status": status,
        "reason": verdict.reason,
        "seconds": time.process_time() - start,
        "alone": alone,
        "size": len(text),
        "dispatched": source.count("if state == ") + source.count("if state_2 == "),
    }


if __name__ == "__main__":
    main()
