"""Find where the numbers of a compiled function go wrong, by running its graphs node by node."""
