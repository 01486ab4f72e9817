"""The edits, one kind in a file. Each registers what it proposes for a finding."""

from depyf.fix.edits import branches, hoists, marks, reports, rewrites, switches

__all__ = ["branches", "hoists", "marks", "reports", "rewrites", "switches"]
