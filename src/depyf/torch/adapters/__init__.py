"""The differences between torch releases: names and seams, each found by probing and never by a version."""
