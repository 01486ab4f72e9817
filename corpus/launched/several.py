"""Runs other programs in its own process, each as a script with a function of its own to compile."""

import os
import runpy
import sys

here = os.path.dirname(os.path.abspath(__file__))
for name in sys.argv[1:]:
    sys.modules.pop("compiled", None)
    runpy.run_path(os.path.join(here, f"{name}.py"), run_name="__main__")
