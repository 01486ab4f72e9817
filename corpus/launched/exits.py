"""Ends with an exit code of its own."""

import sys

from compiled import broken, some

print(broken(some()).tolist())
sys.exit(3)
