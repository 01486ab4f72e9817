"""Blocks of statements to nested statements."""
