"""Blocks with a stack to blocks of statements and expressions."""
