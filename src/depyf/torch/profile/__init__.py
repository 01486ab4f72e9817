"""Measures the steps of a running program with torch's own profiler, and hands the events to `depyf.links.profile`."""
