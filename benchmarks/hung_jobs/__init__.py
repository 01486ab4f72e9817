"""Real jobs of a few ranks that hang, break or are healthy, and whether depyf names the cause."""
