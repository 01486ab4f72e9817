"""The way out for control flow that fits no statement: loops that dispatch on the number of a block.

    state = 0
    while True:
        if state == 0: ...; state = 2
        elif state <= 3:
            try:
                if state == 1: ...; state = 4
                else: ...
            except:
                state = 5
                while 5 <= state < 7: ...
        elif state == 4: ...

Every block becomes one arm, which ends by setting the state, returning or raising; values that cross blocks are in
variables. `scopes` says which statement each block stands in: what one handler protects is one `try`, and a handler's
code runs inside the `except` of it, so that the exception being handled is what it was. `states` numbers the blocks
and finds the arms by halving, so that neither nesting nor time grows with their number. `write` makes the statements.
"""

from depyf.structure.dispatch.flat import dispatch

__all__ = ["dispatch"]
