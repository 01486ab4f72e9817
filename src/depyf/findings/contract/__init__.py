"""Contracts: the facts about a session's compiles, compared with a contract or a snapshot."""
