"""Takes a `Code`, gives statements: the passes in one table, their order in another, and the loop that runs them."""
