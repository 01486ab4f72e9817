"""Where the numbers of a compiled function go wrong: its graphs run node by node."""
