"""Reads its arguments with argparse, and looks at sys.argv."""

import argparse
import sys

from compiled import broken, some

parser = argparse.ArgumentParser(prog="arguments")
parser.add_argument("-o", "--output")
parser.add_argument("-m", action="store_true")
parser.add_argument("--size", type=int, default=2)
parser.add_argument("rest", nargs="*")
options = parser.parse_args()
print(vars(options), sys.argv)
print(broken(some(options.size)).tolist())
