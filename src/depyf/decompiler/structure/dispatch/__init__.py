"""Fallbacks for control flow that fits no statement: loops that dispatch on the number of a block.

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
variables. `scopes` assigns each block to a statement. The code that one handler protects is one `try`, and the
handler's code runs inside its `except`, so that the exception being handled is the same. `write` makes the statements.

    state = 0
    while True:
        try:
            if state == 0: ...; state = 2
            elif state == 1: throw(exc)
            ...
        except:
            if state < 4: raise
            elif state < 6: exc = exc_info()[1]; state = 7
            ...
            while 7 <= state:
                try: ...
                except: ...; state = 1

`levels` has no requirements: handlers may cross, share code, be entered by a jump, and be nested to any depth. Code can
see only the last of the exceptions being handled. So one `try` holds all blocks in which no exception is handled, and
one in its `except` holds all others. To handle another exception instead, it is thrown again unchanged. `write_levels`
makes the statements. `groups` handles exception groups, which only the second form supports. `states` numbers the
blocks of either form and selects the arms by bisection, so that neither nesting nor time grows with their number.
`arms` makes the statements of one block.
"""
