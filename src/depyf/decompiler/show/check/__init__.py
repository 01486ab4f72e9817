"""Takes a form between two passes, gives the first invariant that is broken, or nothing."""
