"""Of several ways to write the same, that of the author: statements with their places come in and go out."""
