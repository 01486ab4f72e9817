"""Make program-written code shorter: rewrites of three-address code that keep its meaning, not its instructions.

They serve code that Dynamo writes, which keeps values in variables of its own and passes arguments through lists
that are built only to be taken apart. Code that a compiler wrote is left alone, so that it can be exact. The order of
the rewrites, in which each makes room for the next, is part of the table in `pipeline`.
"""

from depyf.decompiler.lift.simplify.known import Known

__all__ = ["Known"]
