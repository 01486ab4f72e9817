"""How many values each operation takes from the stack and how many it makes.

Only operations whose effect is a plain `pop n, push m` stand here; those that look below the
top, that move values, or whose numbers depend on their argument are in `lift/simulate.py`.
"""

from __future__ import annotations

PLAIN: dict[str, tuple[int, int]] = {
    "LOAD_FAST": (0, 1),
    "LOAD_FAST_CLEAR": (0, 1),
    "STORE_FAST": (1, 0),
    "DELETE_FAST": (0, 0),
    "LOAD_DEREF": (0, 1),
    "STORE_DEREF": (1, 0),
    "DELETE_DEREF": (0, 0),
    "LOAD_CLOSURE": (0, 1),
    "MAKE_CELL": (0, 0),
    "LOAD_CLASSDEREF": (0, 1),
    "LOAD_FROM_DICT_OR_DEREF": (1, 1),
    "LOAD_FROM_DICT_OR_GLOBALS": (1, 1),
    "LOAD_GLOBAL": (0, 1),
    "STORE_GLOBAL": (1, 0),
    "DELETE_GLOBAL": (0, 0),
    "LOAD_NAME": (0, 1),
    "STORE_NAME": (1, 0),
    "DELETE_NAME": (0, 0),
    "LOAD_LOCALS": (0, 1),
    "LOAD_COMMON": (0, 1),
    "LOAD_BUILD_CLASS": (0, 1),
    "SETUP_ANNOTATIONS": (0, 0),
    "LOAD_ATTR": (1, 1),
    "STORE_ATTR": (2, 0),
    "DELETE_ATTR": (1, 0),
    "LOAD_SUPER_ATTR": (3, 1),
    "LOAD_SUBSCR": (2, 1),
    "STORE_SUBSCR": (3, 0),
    "DELETE_SUBSCR": (2, 0),
    "UNARY": (1, 1),
    "BINARY": (2, 1),
    "INPLACE": (2, 1),
    "COMPARE": (2, 1),
    "IS": (2, 1),
    "CONTAINS": (2, 1),
    "TO_BOOL": (1, 1),
    "LIST_TO_TUPLE": (1, 1),
    "CONVERT": (1, 1),
    "BUILD_TEMPLATE": (2, 1),
    "IMPORT_NAME": (2, 1),
    "IMPORT_LAZY": (2, 1),
    "IMPORT_STAR": (1, 0),
    "SET_FUNCTION_ATTRIBUTE": (2, 1),
    "GET_ITER": (1, 1),
    "GET_YIELD_FROM_ITER": (1, 1),
    "YIELD": (1, 1),
    "YIELD_FROM": (2, 1),
    "GET_AWAITABLE": (1, 1),
    "GET_AITER": (1, 1),
    "END_ASYNC_FOR": (2, 0),
    "CHECK_EG_MATCH": (2, 2),
    "PREP_RERAISE_STAR": (2, 1),
    "ENTER_WITH": (1, 2),
    "ENTER_ASYNC_WITH": (1, 2),
    "MATCH_CLASS": (3, 1),
    "UNGUARDED": (0, 0),
}

PEEK: dict[str, tuple[int, int]] = {
    "IMPORT_FROM": (1, 1),
    "GET_LEN": (1, 1),
    "MATCH_MAPPING": (1, 1),
    "MATCH_SEQUENCE": (1, 1),
    "MATCH_KEYS": (2, 1),
    "GET_ANEXT": (1, 1),
}
"""Operations that look at the top values, leave them, and push: (values looked at, values pushed)."""

COUNTED = frozenset(
    {
        "BUILD_TUPLE",
        "BUILD_LIST",
        "BUILD_SET",
        "BUILD_STRING",
        "BUILD_SLICE",
        "BUILD_TUPLE_UNPACK",
        "BUILD_LIST_UNPACK",
        "BUILD_SET_UNPACK",
        "BUILD_MAP_UNPACK",
        "BUILD_TUPLE_UNPACK_WITH_CALL",
        "BUILD_MAP_UNPACK_WITH_CALL",
    }
)
"""Operations that take as many values as their argument says and make one."""

INTO: dict[str, int] = {
    "LIST_APPEND": 1,
    "SET_ADD": 1,
    "MAP_ADD": 2,
    "LIST_EXTEND": 1,
    "SET_UPDATE": 1,
    "DICT_UPDATE": 1,
    "DICT_MERGE": 1,
}
"""Operations that take values and change a container below them: number of values taken."""
