"""Handles one signal, and is ended by another."""

import os
import signal

from compiled import broken, some

signal.signal(signal.SIGUSR1, lambda number, frame: print("signal", number, broken(some(2)).tolist(), flush=True))
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.getsignal(signal.SIGTERM).name)
os.kill(os.getpid(), signal.SIGUSR1)
print(broken(some()).tolist(), flush=True)
os.kill(os.getpid(), signal.SIGTERM)
