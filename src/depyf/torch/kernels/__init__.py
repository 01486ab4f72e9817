"""Inductor's kernels alone: what they compute, line by line, without a GPU."""
