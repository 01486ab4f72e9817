"""Forks by hand and through multiprocessing; each child compiles."""

import multiprocessing
import os
import sys

from compiled import broken, some


def work(number: int) -> None:
    print("child", broken(some(number) - 20).tolist(), flush=True)


print("parent", broken(some()).tolist(), flush=True)
child = os.fork()
if child == 0:
    work(4)
    sys.stdout.flush()
    os._exit(7)
print("status", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
process = multiprocessing.get_context("fork").Process(target=work, args=(5,))
process.start()
process.join()
print("parent", process.exitcode, broken(some(6)).tolist())
