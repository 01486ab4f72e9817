"""Run Inductor's kernels alone, line by line, without a GPU."""
