"""Inductor's kernels, read from the text of its modules: what they take, what they compute, and for which nodes."""
