"""Damage `.pyc` files and live code objects at random, and see that the decompiler takes it: see `__main__`."""
