"""The texts of a compile's artifacts: graphs, wrappers and transformed functions as Python files."""
