"""One Python idiom a file, each optional."""
