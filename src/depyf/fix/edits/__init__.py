"""The edits, one kind in a file. Each registers what it proposes for a finding."""

from depyf.fix.edits import branches, marks, switches

__all__ = ["branches", "marks", "switches"]
