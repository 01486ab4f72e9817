"""Code objects of every supported Python, read and normalised: after this nobody knows a version."""
