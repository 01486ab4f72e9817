"""depyo (bytecode of 1.0 to 3.15), in process."""
from depyo.pyc_decompiler import PycDecompiler
from depyo.pyc_reader import PycReader

NAME = "depyo"


def decompile_pyc(path):
    with open(path, "rb") as file:
        code = PycReader(file.read()).ReadObject()
    return str(PycDecompiler(code).decompile().codeFragment())
