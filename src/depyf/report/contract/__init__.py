"""Contracts: the facts of what a session compiled, and whether they keep a contract or equal a snapshot."""
