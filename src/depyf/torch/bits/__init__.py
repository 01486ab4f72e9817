"""Find the first kernel whose bits differ between two arrangements of a computation."""
