"""Live functions: their defaults, annotations and closures."""
