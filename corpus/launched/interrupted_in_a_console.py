"""Shows an interrupt in a console of its own, goes on, and ends well."""

import code

from compiled import broken, some

code.InteractiveInterpreter().runcode(compile("raise KeyboardInterrupt", "<console>", "exec"))
print(broken(some()).tolist(), flush=True)
