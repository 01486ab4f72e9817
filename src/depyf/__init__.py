"""depyf opens the black box of `torch.compile`."""
