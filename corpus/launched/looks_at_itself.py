"""Asks what it can see of how it was started."""

import inspect
import os
import pickle
import sys
import threading

from compiled import broken, some


class Mine:
    def __reduce__(self):
        return Mine, ()


def main() -> None:
    print(__name__, os.path.basename(__file__), __spec__, sys.argv, sys.flags.optimize, sys.flags.dont_write_bytecode)
    print(os.path.samefile(sys.path[0], os.path.dirname(os.path.abspath(__file__))), len(sys.path))
    print(type(pickle.loads(pickle.dumps(Mine()))).__module__, inspect.getsource(Mine).splitlines()[0])
    print([thread.name for thread in threading.enumerate()], sys.gettrace(), sys.getprofile(), len(inspect.stack()))
    print(sys.excepthook is sys.__excepthook__, sys.stdout is sys.__stdout__, sys.getrecursionlimit())
    print(broken(some()).tolist())


if __name__ == "__main__":
    main()
