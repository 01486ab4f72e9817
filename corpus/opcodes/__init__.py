"""Which opcodes of each Python are shown to work, and by what: see `__main__`."""
