"""What differs between torch releases: names and seams, each found by asking for it, never by a version."""
