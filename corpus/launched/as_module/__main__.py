"""The main module of the package."""

import sys

from compiled import broken, some

print(__name__, __package__, __spec__.name, sys.argv[1:], broken(some()).tolist())
