"""Prices each line of a compiled program: takes a profiler's events and a dump, gives costs and their views."""
