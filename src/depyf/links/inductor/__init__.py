"""Inductor's kernels, parsed from its modules: their arguments, their values, and the nodes that they compute."""
