"""The cases of `match` statements.

The compiler tests a pattern step by step, leaves its captures on the stack, and stores them when the whole pattern has
matched. This package joins the steps of one pattern into one test (`MatchTest`); `passes/flow/matches.py` makes the
statement from the tests.
"""
