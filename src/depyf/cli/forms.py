"""The forms that `depyf decompile --show` accepts."""

from __future__ import annotations

SHOWS = ("bytecode", "cfg", "tree", "steps", "html")
STANDARD = {"cfg": ("lift",), "tree": ("build", "dispatch")}
"""The passes after which each form is shown by default."""
