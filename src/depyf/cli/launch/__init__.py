"""Run a program and capture everything that torch compiles in it and in its child processes."""
