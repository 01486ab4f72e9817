"""What a run was, as plain data, and the views of it. Knows nothing of torch."""
