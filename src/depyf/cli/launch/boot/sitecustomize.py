"""The first code of every Python that a launched program starts. Python imports it by its name, before the program.

Its folder is on PYTHONPATH and is removed from `sys.path` here. Then the user's own `sitecustomize`, which this one
hides, is imported.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys


def _run_hidden() -> None:
    """Run the `sitecustomize` that this one hides."""
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def _begin() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    if importlib.util.find_spec("depyf") is not None:
        from depyf.cli.launch.capture import await_dynamo

        await_dynamo()
    _run_hidden()


_begin()
