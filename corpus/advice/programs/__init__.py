"""The programs; importing them adds the pairs."""
