"""Prove that two codes do the same. Of the decompiler, only the bytecode reader is trusted."""
