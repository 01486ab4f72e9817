"""Mutants that are no other program: each is shown here to change nothing that anybody can observe.

`explain` asks two rules: the compiler makes the same instructions of both texts (`instructions`), or the two codes are
walked side by side and do the same things of the same values on every way (`walk`). What nobody can observe is what
decision 0008 says. The walk is written apart from `depyf.verify` and knows less, so that the one checks the other:
`python -m tests.quality.mutate_emitted` and `tests/quality/mutate.py` print the mutants that the verifier kills and the
walk does not.
"""
