"""Read and normalise the code objects of every supported Python. No other package knows a Python version."""
