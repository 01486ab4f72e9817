"""The code of a file that is proven to do the same as code that Dynamo made, for as long as torch keeps the latter."""

from __future__ import annotations

import types

from depyf.torch.capture.weak_codes import WeakCodes

OF_FILE: WeakCodes[types.CodeType] = WeakCodes()
"""By Dynamo's code. The constants of both are the same objects, so that nothing lives longer for it."""
