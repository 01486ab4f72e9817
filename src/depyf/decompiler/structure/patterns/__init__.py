"""The cases of `match` statements.

The compiler tests a pattern step by step, leaves what it captures on the stack, and stores it when the whole
pattern has matched. Here the steps of one pattern become one test (`MatchTest`); `passes/matches.py` makes the
statement of the tests.
"""
