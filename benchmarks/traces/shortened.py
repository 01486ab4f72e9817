"""Writes traces for tests: `python benchmarks/traces/shortened.py TRACE OUTPUT.gz FROM=TO...` replaces paths in it.

Payloads get the md5 of what they then are. Of torch's timeline the first events are kept.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sys
from pathlib import Path

MOST_EVENTS = 40


def shortened(text: str, replaced: dict[str, str]) -> str:
    """Return a trace with paths replaced."""
    for old, new in replaced.items():
        text = text.replace(old, new)
    kept, events = [], 0
    for record in re.split(r"\n(?!\t)", text.removesuffix("\n")):
        head, _, body = record.partition("\n")
        prefix, _, written = head.partition("] {")
        metadata = json.loads("{" + written)
        events += "chromium_event" in metadata
        if "chromium_event" in metadata and events > MOST_EVENTS:
            continue
        if "has_payload" in metadata:
            payload = body.removeprefix("\t").replace("\n\t", "\n")
            metadata["has_payload"] = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
        kept.append(f"{prefix}] {json.dumps(metadata)}" + (f"\n{body}" if body else ""))
    return "\n".join(kept) + "\n"


def main() -> None:
    """Write one trace."""
    source, output, *pairs = sys.argv[1:]
    text = Path(source).read_text(encoding="utf-8")
    trace = shortened(text, dict(pair.split("=", 1) for pair in pairs)).encode()
    with open(output, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write(trace)


if __name__ == "__main__":
    main()
