"""What `depyf decompile --show` takes."""

from __future__ import annotations

SHOWS = ("bytecode", "cfg", "tree", "steps", "html")
STANDARD = {"cfg": ("lift",), "tree": ("build", "dispatch")}
"""The passes after which a form is shown, where the user names none."""
