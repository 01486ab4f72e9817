"""The model of a run: what torch compiled and why, as plain data, with its files. This package does not need torch."""
