"""Proof that two codes do the same. Trusts the reader, and nothing else of the decompiler."""
