"""Ends by a segmentation fault."""

import ctypes

from compiled import broken, some

print(broken(some()).tolist(), flush=True)
ctypes.string_at(0)
