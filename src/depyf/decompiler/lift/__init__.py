"""Turn blocks with a stack into blocks of statements and expressions."""
