"""The verdicts of guards on values: the failing checks, each with the expected and the actual value."""
