"""Take a compiled function, and return its replica: guards, code, graphs and dispatch as Python."""
