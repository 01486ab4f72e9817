"""Turn blocks of statements into nested statements."""
