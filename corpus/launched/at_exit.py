"""Has functions called at its end, which compile too."""

import atexit
import weakref

from compiled import broken, some


class Held:
    pass


held = Held()
weakref.finalize(held, print, "finalized")
atexit.register(lambda: print("registered first", broken(some(2)).tolist()))
atexit.register(print, "registered last")
print(broken(some()).tolist())
