"""The ways out for control flow that fits no statement: loops that dispatch on the number of a block.

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
code runs inside the `except` of it, so that the exception being handled is what it was. `write` makes the statements.

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

`levels` demands nothing: handlers may cross, share code, be entered by a jump, and be as deep as they like. Only the
last of the exceptions being handled can be seen; so there is one `try` for all blocks in which none is handled, and one
in its `except` for all others. An exception that is to be handled in another's place is thrown once more, as it is.
`write_levels` makes the statements. `groups` has what parts groups of exceptions, which the second form alone
holds. `states` numbers the blocks of either form and finds the arms by halving, so that
neither nesting nor time grows with their number; `arms` makes the statements of one block.
"""
