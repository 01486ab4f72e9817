"""Compile a text to the code for the comparison, with the names and the layout of the original."""
