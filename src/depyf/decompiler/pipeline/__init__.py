"""Turn a `Code` into statements: the passes in one table, their order in another, and the loop that runs them."""
