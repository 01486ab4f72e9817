"""Files of odd origin, and what `depyf decompile` makes of them."""
