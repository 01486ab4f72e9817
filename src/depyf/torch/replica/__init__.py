"""Takes a compiled function, gives its replica: guards, code, graphs and dispatch as Python."""
