"""The `depyf` command. Each command has its own file, and its docstring lists its exit codes."""
