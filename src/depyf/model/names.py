"""Names of files and of globals that are the same in every process.

torch puts random parts and addresses into names. A dump must not contain them, so that dumps can be compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from depyf.bytecode.patterns import pattern

MAX_LENGTH = 80
"""The longest name of a function or a stage inside a file name; file systems allow 255 bytes for the whole name."""

COMPILED_FN = "__compiled_fn_"
"""The start of the name of a compiled graph; its number follows."""

RESUME_AT = "__resume_at_"
"""The prefix of the name of a resume function's global. The offset at which it resumes, and a count, follow."""

_UNSAFE = pattern(r"[^A-Za-z0-9_.\-]+")
_RANDOM_TAIL = pattern(r"_[0-9a-f]{8}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{12}$")
_ADDRESS = pattern(r"\d{9,}")
_INSTALLED = pattern(r"__(compiled_fn|resume_at|import|builtins_dict)_")
_RESUMED = pattern(r"torch_dynamo_resume_in_(.+)_at_(\d+)$")
_RESUME_AT = pattern(rf"{RESUME_AT}(\d+)_")
_COUNTED = pattern(r"(__builtins_dict__)_\d+|(?<=\[)c\d+(_key)(?=\])")
"""A name of Dynamo's that contains a counter of the process. It differs between entries for the same object."""

_COMPILED_FN = pattern(rf"{COMPILED_FN}(\d+)")
_OF_GRAPH = pattern(rf"(?:{COMPILED_FN}|graph_)(\d+)")


def file_part(name: str) -> str:
    """Return `name` as a part of a file name: only safe characters, at most `MAX_LENGTH`.

    Two different long names stay different, because a hash of the whole name is added.

    >>> file_part("<lambda>"), file_part("before split")
    ('lambda', 'before_split')
    """
    safe = _UNSAFE.sub("_", name).strip("_.") if _UNSAFE.search(name) else name.strip(".")
    if len(safe) > MAX_LENGTH:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        safe = f"{safe[: MAX_LENGTH - 9]}_{digest}"
    return safe or "unnamed"


def without_random_part(name: str) -> str:
    """Return a global name of Dynamo's without its random tail.

    >>> without_random_part("__compiled_fn_1_c4ee0479_718e_4bf4_a799_f70a91727578")
    '__compiled_fn_1'
    """
    return _RANDOM_TAIL.sub("", name)


def resumed_function(name: str) -> tuple[str, int] | None:
    """Return the function that a resume function belongs to, and the line of the graph break; None for other names.

    >>> resumed_function("torch_dynamo_resume_in_toy_example_at_6")
    ('toy_example', 6)
    """
    match = _RESUMED.match(name)
    return (match[1], int(match[2])) if match else None


def resume_offset(name: str) -> int | None:
    """Return the bytecode offset at which the resume function in a global continues; None where the global has another.

    >>> resume_offset("__resume_at_102_2"), resume_offset("torch")
    (102, None)
    """
    match = _RESUME_AT.match(name)
    return int(match[1]) if match else None


def without_count(text: str) -> str:
    """Return a text without the counters that give one object different names in each entry of a function.

    >>> without_count('dict_item(G["__builtins_dict___7"], "len") is len')
    'dict_item(G["__builtins_dict__"], "len") is len'
    >>> without_count('G["torch"].Tensor is G[c5_key].Tensor')
    'G["torch"].Tensor is G[c_key].Tensor'
    """
    return _COUNTED.sub(lambda match: match[1] or f"c{match[2]}", text)


def compiled_fn_number(name: str) -> int | None:
    """Return the number in the name of a compiled graph, or None for another name.

    >>> compiled_fn_number("__compiled_fn_7"), compiled_fn_number("torch")
    (7, None)
    """
    match = _COMPILED_FN.match(name)
    return int(match[1]) if match else None


def graph_number(file: str) -> int | None:
    """Return the number of the graph that a file of a dump belongs to, or None. Traces number the graphs themselves.

    >>> graph_number("__compiled_fn_7.Captured_Graph.0.py"), graph_number("graph_2.kernel_0.py")
    (7, 2)
    """
    match = _OF_GRAPH.match(file)
    return int(match[1]) if match else None


def is_installed(name: str) -> bool:
    """Return whether Dynamo installs globals under names of this form.

    >>> is_installed("__import_torch_dot_nn"), is_installed("torch")
    (True, False)
    """
    return _INSTALLED.match(name) is not None


def stable_names(names: Iterable[str]) -> dict[str, str]:
    """Return the name in a dump for each name that contains a random part or an address.

    The mapping can be inverted: no two names become the same, and no new name is in `names` already.
    """
    known = list(dict.fromkeys(names))
    taken = set(known)
    renamed: dict[str, str] = {}
    for name in known:
        short = _ADDRESS.sub("X", without_random_part(name))
        if short == name:
            continue
        candidate, count = short, 0
        while candidate in taken:
            count += 1
            candidate = f"{short}_{count}"
        taken.add(candidate)
        renamed[name] = candidate
    return renamed
