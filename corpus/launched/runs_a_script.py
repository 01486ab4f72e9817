"""Starts another script as a process, and reads what it prints."""

import os
import subprocess
import sys

from compiled import broken, some

print(broken(some()).tolist(), flush=True)
other = os.path.join(os.path.dirname(os.path.abspath(__file__)), "exits.py")
done = subprocess.run([sys.executable, other], capture_output=True, text=True, check=False)
print("other", done.returncode, done.stdout.strip())
