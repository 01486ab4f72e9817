"""Is killed in the middle."""

import os
import signal

from compiled import broken, some

for size in range(2, 10):
    print(broken(some(size)).tolist(), flush=True)
    if size == 4:
        os.kill(os.getpid(), signal.SIGKILL)
