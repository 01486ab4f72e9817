"""Run a program with everything that torch compiles in it captured, in the processes that it starts too."""
