"""Recognise the source statements of a graph's exception handlers.

The compiler surrounds protected statements with bookkeeping: copies of `finally` bodies, calls of a context manager's
exit, the unbinding of `except ... as e`. Each module here handles one kind: it checks that the bookkeeping is complete,
and removes it. Plain blocks with a protected region remain.
"""
