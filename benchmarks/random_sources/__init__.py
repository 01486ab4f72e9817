"""Random sources as input: what a grammar allows and nobody would write."""
