"""Walk the code of versions whose interpreter keeps values on the stack that normalised code does not have.

3.7 to 3.10 keep handlers on a block stack and push three values per exception; 3.7 and 3.8 run `finally` bodies as
subroutines; 3.14 keeps `__exit__` as two values, 3.15 an iterator.
"""
