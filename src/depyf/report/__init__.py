"""The model of a run, as plain data, and the views of it. This package does not need torch."""
