"""Of several ways to write the same, the one of the author: comes in statements with their places, goes out statements."""
