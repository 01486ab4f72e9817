"""Prints to both streams, and logs."""

import logging
import sys

from compiled import broken, some

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
print("to stderr", broken(some()).tolist(), file=sys.stderr)
logging.getLogger("mine").info("logged %s", broken(some(2)).tolist())
logging.getLogger("mine").debug("not shown")
sys.stdout.write("no end of line")
