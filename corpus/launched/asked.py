"""Reads its input, line by line and then the rest."""

import sys

from compiled import broken, some

for _ in range(2):
    print(broken(some(int(input("how many? ")))).tolist())
print("rest", sys.stdin.read().split(), sys.stdin.isatty())
