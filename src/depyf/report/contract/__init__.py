"""Takes a session; gives what it compiled, fact by fact, and whether that keeps a contract or equals a snapshot."""
