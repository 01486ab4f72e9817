"""Show the form of a function around a pass, choose such forms as tests, and see which faults those tests catch."""
