"""Which modules of the standard library are replaced, and which of CPython's tests show how they behave."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Subject:
    """A module or package that is replaced whole.

    name: what is replaced: a module, or a package with all that is in it.
    tests: modules of CPython's `test` package; those that a version does not have are left out there.
    """

    name: str
    tests: tuple[str, ...]


def _of(name: str, *tests: str) -> Subject:
    return Subject(name, tests or (f"test_{name}",))


SUBJECTS = (
    _of("argparse"),
    _of("ast", "test_ast", "test_unparse"),
    _of("asyncio"),
    _of("bisect"),
    _of("calendar"),
    _of(
        "collections",
        *("test_collections", "test_ordered_dict", "test_userdict", "test_userlist", "test_userstring"),
    ),
    _of("configparser"),
    _of("contextlib", "test_contextlib", "test_contextlib_async"),
    _of("copy"),
    _of("csv"),
    _of("dataclasses"),
    _of("_pydecimal", "test_decimal"),
    _of("difflib"),
    _of("enum"),
    _of("fractions"),
    _of("functools"),
    _of("heapq"),
    _of("ipaddress"),
    _of("json"),
    _of("logging"),
    _of("pathlib"),
    _of("pickle", "test_pickle", "test_copyreg"),
    _of("pprint"),
    _of("random"),
    _of("re"),
    _of("shlex"),
    _of("statistics"),
    _of("string"),
    _of("tarfile"),
    _of("textwrap"),
    _of("tokenize"),
    _of("traceback"),
    _of("typing"),
    _of("urllib", "test_urlparse", "test_urllib", "test_robotparser"),
    _of("uuid"),
    _of("zipfile"),
)
