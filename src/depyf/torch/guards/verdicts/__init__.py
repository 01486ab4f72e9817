"""The verdicts of guards on values: which checks fail, what each expected, and what it got."""
