"""PyChD's rules (bytecode of 3.14 on 3.14), in process, without a language model.

It writes `pass` for each body that its rules do not recover."""
import os
from pathlib import Path

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
from pychd.decompile import Mode, decompile_pyc as decompile  # noqa: E402

NAME = "pychd"


def decompile_pyc(path):
    return decompile(Path(path), mode=Mode.RULES_ONLY).source
