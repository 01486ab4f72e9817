"""The documentation's code blocks, run: every block does what it says, and every output that is shown is real."""
