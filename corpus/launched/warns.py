"""Warns, once per place and as an error."""

import warnings

from compiled import broken, some

for size in (2, 3, 3):
    broken(some(size))
    warnings.warn("something of mine", UserWarning, stacklevel=1)
warnings.simplefilter("error")
try:
    warnings.warn("now an error", RuntimeWarning, stacklevel=1)
except RuntimeWarning as error:
    print("raised", error, broken(some(5)).tolist())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    broken(some(6))
    warnings.warn("caught", DeprecationWarning, stacklevel=1)
print([str(warning.message) for warning in caught])
