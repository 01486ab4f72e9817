"""Explain cache misses: parse torch's records of its caches, and compare the key of each miss with earlier keys."""
