"""Write a value that a guard checks as the user would write it.

before: `L["self"].__dict__["_modules"]["h"].__dict__["_modules"]["0"].__dict__["training"]`
after: `self.h[0].training`
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence
from functools import lru_cache

from depyf.bytecode.patterns import pattern

_STRING = pattern(r"""(?<![A-Za-z0-9_'"])[bBrRuU]{0,2}(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_MASK = "\0{}\0"
"""Replaces string number N of an expression while the rest is rewritten."""
_MASKED = pattern(r"\0(\d+)\0")
_VARIABLE = pattern(r"\b(?P<scope>[LG])\[\0(?P<number>\d+)\0\](?P<dot>\.?)")
_IMPORT = "__import_"
"""The start of Dynamo's name for a module of which it reads a global, `__import_torch_dot_nn`."""
_MEMBER = pattern(
    r"(?:\.__dict__\[\0(?P<holder>\d+)\0\]|\._(?P<plain>modules|parameters|buffers))\[\0(?P<number>\d+)\0\]"
)
_HOLDERS = ("_modules", "_parameters", "_buffers")
_MODULES = pattern(r"(?<=.)\._modules$")
"""The dict of a module's own modules as a whole, which a program reaches by the module."""
_ATTRIBUTE = pattern(r"\.__dict__\[\0(?P<number>\d+)\0\]")
_ITEM = pattern(
    r"\b(?:dict_item|___dict_getitem|(?:dict|tuple|list)\.__getitem__)"
    r"\((?P<of>[^(),]+), (?P<key>(?:[^()]|\((?:[^()]|\([^()]*\))*\))+)\)"
)


_ENVIRONMENT = pattern(r"\bos\.environ\._data(?:\[\0(?P<number>\d+)\0\])?")
"""The dict of bytes in which Python keeps the variables of the environment, and the name of one."""
_ARRAY = pattern(r"\b_*from_numpy\((?P<of>[^()]+)\)")
"""torch's expression for the tensor that it makes of an array of numpy."""


@lru_cache(maxsize=4096)
def spelled(source: str) -> str:
    """Return torch's expression for a value as the user would write it. Unknown forms stay unchanged.

    Strings in it, such as keys, stay as they are, also if they hold what looks like such an expression.

    >>> spelled('L["self"].__dict__["_modules"]["h"].__dict__["_modules"]["0"].__dict__["training"]')
    'self.h[0].training'
    >>> spelled('G["SCALE"]'), spelled('L["kwargs"]["a"]'), spelled("self._modules['conv'].bias")
    ('SCALE', 'kwargs["a"]', 'self.conv.bias')
    >>> spelled('G["__import___main__"].seen'), spelled('G["__import_torch_dot_nn"].F')
    ('seen', 'torch.nn.F')
    >>> spelled("G['os'].environ._data[b'RANK']")
    "os.environ['RANK']"
    """
    strings: list[str] = []

    def mask(string: re.Match[str]) -> str:
        strings.append(string[0])
        return _MASK.format(len(strings) - 1)

    def variable_of_environment(match: re.Match[str]) -> str:
        name = ast.literal_eval(strings[int(match["number"])]) if match["number"] else ""
        return f"os.environ[{os.fsdecode(name)!r}]" if name else "os.environ"

    text = _ENVIRONMENT.sub(variable_of_environment, _rewritten(_STRING.sub(mask, source), strings))
    return _MASKED.sub(lambda mark: strings[int(mark[1])], text)


def _rewritten(text: str, strings: Sequence[str]) -> str:
    """Return an expression as the user would write it; its strings are masked by their numbers."""

    def name_of(number: str) -> str:
        value = ast.literal_eval(strings[int(number)])
        return value if isinstance(value, str) else ""

    def variable(match: re.Match[str]) -> str:
        name = name_of(match["number"])
        if match["scope"] == "L" or not name.startswith(_IMPORT) or not match["dot"]:
            return f"{name}{match['dot']}" if name else match[0]
        module = name.removeprefix(_IMPORT)
        return "" if module == "__main__" else f"{module.replace('_dot_', '.')}."

    def member(match: re.Match[str]) -> str:
        is_held = match["plain"] or name_of(match["holder"]) in _HOLDERS
        return _step(name_of(match["number"]), match[0]) if is_held else match[0]

    text = _ARRAY.sub(lambda match: match["of"], _VARIABLE.sub(variable, text))
    before = ""
    while before != text:
        before, text = text, _ITEM.sub(lambda match: f"{match['of']}[{match['key']}]", text)
    text = _MEMBER.sub(member, text)
    return _MODULES.sub("", _ATTRIBUTE.sub(lambda match: _step(name_of(match["number"]), match[0]), text))


def without_strings(source: str) -> str:
    """Return torch's expression for a value without the content of its strings.

    >>> without_strings("L['d']['a.size()']")
    "L['']['']"
    """
    return _STRING.sub("''", source)


def _step(name: str, unchanged: str) -> str:
    """Return the step to an attribute, or an unchanged text if the name is no word."""
    if not name.isidentifier() and not name.isdigit():
        return unchanged
    return f"[{name}]" if name.isdigit() else f".{name}"


def root_name(source: str) -> str:
    """Return the variable that an expression of torch's begins with, or "".

    >>> root_name('L["x"].shape'), root_name("self.n"), root_name("no_aliasing(L['x'])")
    ('x', 'self', '')
    """
    match = re.match(r"[LG]\[['\"]([^'\"]+)['\"]\]|([A-Za-z_]\w*)(?=[.\[]|$)", source)
    return (match[1] or match[2]) if match else ""
