"""Real packages as input: every module is compiled, decompiled and proven."""
