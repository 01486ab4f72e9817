"""The `depyf` command: one file a command, each with its exit codes in its docstring."""
