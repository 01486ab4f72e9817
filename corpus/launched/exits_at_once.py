"""Ends without the end of the interpreter."""

import os

from compiled import broken, some

print(broken(some()).tolist(), flush=True)
os._exit(5)
