"""What the exception handlers of a graph stand for in source.

The compiler surrounds the statements that it protects with bookkeeping: copies of `finally` bodies, calls
of a context manager's exit, the unbinding of `except ... as e`. Each module here knows one kind, checks
that the bookkeeping is complete, and takes it out; what remains are plain blocks with a protected region.
"""
