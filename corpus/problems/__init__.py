"""Programs with one problem each, and programs without any, written as a user of `torch.compile` writes them."""
