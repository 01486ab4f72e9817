"""Simulated jobs of 1,000 and 10,000 ranks with one fault each: the files they leave, and whether depyf names it."""
