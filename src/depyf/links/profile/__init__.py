"""The cost of each line of a compiled program, from a profiler's events and a dump, and the views of it."""
