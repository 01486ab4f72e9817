"""Write a value that a guard checks as the user would write it.

before: `L["self"].__dict__["_modules"]["h"].__dict__["_modules"]["0"].__dict__["training"]`
after: `self.h[0].training`
"""

from __future__ import annotations

import re
from functools import lru_cache

_VARIABLE = re.compile(r"\b[LG]\[(?P<quote>['\"])(?P<name>[^'\"]+)(?P=quote)\]")
_IMPORTED = re.compile(r"\bG\[(?P<quote>['\"])__import_(?P<module>[^'\"]+)(?P=quote)\](?=\.)")
_OF_MAIN = re.compile(r"\bG\[(?P<quote>['\"])__import___main__(?P=quote)\]\.")
"""The start of Dynamo's path to a global of another module than the function's, or of the main program."""
_MEMBER = re.compile(
    r"(?:\.__dict__\[(?P<a>['\"])(?:_modules|_parameters|_buffers)(?P=a)\]|\._(?:modules|parameters|buffers))"
    r"\[(?P<b>['\"])(?P<name>\w+)(?P=b)\]"
)
_ATTRIBUTE = re.compile(r"\.__dict__\[(?P<quote>['\"])(?P<name>\w+)(?P=quote)\]")
_ITEM = re.compile(r"\b(?:dict_item|___dict_getitem|dict\.__getitem__)\((?P<of>[^(),]+), (?P<key>[^()]+)\)")
_CELL = re.compile(r"[^ ()]*\.__closure__\[(?P<number>\d+)\]\.cell_contents")


@lru_cache(maxsize=4096)
def spelled(source: str) -> str:
    """Return torch's expression for a value as the user would write it. Unknown forms stay unchanged.

    >>> spelled('L["self"].__dict__["_modules"]["h"].__dict__["_modules"]["0"].__dict__["training"]')
    'self.h[0].training'
    >>> spelled('G["SCALE"]'), spelled('L["kwargs"]["a"]'), spelled("self._modules['conv'].bias")
    ('SCALE', 'kwargs["a"]', 'self.conv.bias')
    >>> spelled('G["__import___main__"].seen'), spelled('G["__import_torch_dot_nn"].F')
    ('seen', 'torch.nn.F')
    """
    text = _IMPORTED.sub(lambda found: found["module"].replace("_dot_", "."), _OF_MAIN.sub("", source))
    text = _VARIABLE.sub(lambda found: found["name"], text)
    text = _ITEM.sub(lambda found: f"{found['of']}[{found['key']}]", text)
    text = _MEMBER.sub(lambda found: _step(found["name"]), text)
    return _ATTRIBUTE.sub(lambda found: _step(found["name"]), text)


def _step(name: str) -> str:
    return f"[{name}]" if name.isdigit() else f".{name}"


def root_name(source: str) -> str:
    """Return the variable that an expression of torch's begins with, or "".

    >>> root_name('L["x"].shape'), root_name("self.n"), root_name("no_aliasing(L['x'])")
    ('x', 'self', '')
    """
    found = re.match(r"[LG]\[['\"]([^'\"]+)['\"]\]|([A-Za-z_]\w*)(?=[.\[]|$)", source)
    return (found[1] or found[2]) if found else ""
