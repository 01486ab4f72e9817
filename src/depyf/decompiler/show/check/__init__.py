"""Check a form between two passes, and return the first broken invariant, if any."""
