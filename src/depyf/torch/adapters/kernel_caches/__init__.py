"""Watch the look-ups in torch's and Triton's caches of kernels, each with the parts of its key."""
