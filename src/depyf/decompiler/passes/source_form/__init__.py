"""Choose the author's way among several equivalent ones. In and out: statements with source locations."""
