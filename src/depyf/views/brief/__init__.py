"""A run for a reader with a budget of tokens, such as a coding agent: findings first, more by ids."""
