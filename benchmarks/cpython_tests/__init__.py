"""CPython's own tests, run against decompiled modules that stand in the place of the originals."""
