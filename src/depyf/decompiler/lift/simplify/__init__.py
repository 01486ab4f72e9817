"""Shorten program-written code: rewrites of three-address code that keep its meaning, not its instructions.

They serve code by Dynamo, which keeps values in its own variables and passes arguments through lists that it directly
unpacks. Compiled code is not rewritten, so that it can be exact. Each rewrite makes room for the next; their order is
part of the table in `pipeline`.
"""

from depyf.decompiler.lift.simplify.known import Known

__all__ = ["Known"]
