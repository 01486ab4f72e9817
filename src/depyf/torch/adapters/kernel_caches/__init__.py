"""Takes torch's and Triton's functions that look into caches of kernels; gives each look with the parts of its key."""
