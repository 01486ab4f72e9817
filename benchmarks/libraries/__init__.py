"""Libraries that call `torch.compile`: the same results with a context of depyf and without, and whole stories."""
