"""The table of functions that fold operations."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import cast

from depyf.decompiler.graph.tac import KEEP, Inst
from depyf.decompiler.lift import assign, calls, imports, namespaces, super_, templates, unfolded, values
from depyf.decompiler.lift.fold import Folder
from depyf.decompiler.lift.nodes import Temp

Rule = Callable[[Folder, Inst], None]


def _keep(folder: Folder, inst: Inst) -> None:
    """KEEP: assign a value of a handler's stack."""
    (value,) = folder.take(inst.uses).exprs
    folder.emit(ast.Assign(targets=[Temp(temp=cast(int, inst.arg))], value=value), inst.line)


def _nothing(folder: Folder, inst: Inst) -> None:
    """Bookkeeping of the interpreter without a source form."""


FOLD: dict[str, Rule] = {
    "CONST": values.const,
    "LOAD_FAST": values.load,
    "LOAD_FAST_CLEAR": values.load,
    "LOAD_DEREF": values.load,
    "LOAD_CLASSDEREF": values.load,
    "LOAD_GLOBAL": values.load,
    "LOAD_NAME": values.load,
    "LOAD_GLOBAL_UNCHANGING": values.load_unchanging,
    "LOAD_LOCALS": namespaces.load_locals,
    "LOAD_FROM_DICT_OR_DEREF": namespaces.load_from_dict,
    "LOAD_FROM_DICT_OR_GLOBALS": namespaces.load_from_dict,
    "LOAD_CLOSURE": values.load_closure,
    "LOAD_COMMON": values.common,
    "LOAD_BUILD_CLASS": values.build_class,
    "DELETE_FAST": values.delete,
    "DELETE_DEREF": values.delete,
    "DELETE_GLOBAL": values.delete,
    "DELETE_NAME": values.delete,
    "LOAD_ATTR": values.load_attr,
    "LOAD_SUPER_ATTR": super_.load_super_attr,
    "DELETE_ATTR": values.delete_attr,
    "LOAD_SUBSCR": values.load_subscr,
    "DELETE_SUBSCR": values.delete_subscr,
    "UNARY": unfolded.unary,
    "BINARY": unfolded.binary,
    "INPLACE": values.inplace,
    "COMPARE": values.compare,
    "IS": values.compare,
    "CONTAINS": values.compare,
    "TO_BOOL": values.to_bool,
    "BUILD_TUPLE": values.build_tuple,
    "BUILD_LIST": values.build_list,
    "BUILD_SET": values.build_set,
    "BUILD_MAP": unfolded.build_map,
    "BUILD_CONST_KEY_MAP": values.build_const_key_map,
    "BUILD_SLICE": values.build_slice,
    "BUILD_STRING": values.build_string,
    "BUILD_TUPLE_UNPACK": values.build_unpack,
    "BUILD_LIST_UNPACK": values.build_unpack,
    "BUILD_SET_UNPACK": values.build_unpack,
    "BUILD_MAP_UNPACK": values.build_unpack,
    "BUILD_TUPLE_UNPACK_WITH_CALL": values.build_unpack,
    "BUILD_MAP_UNPACK_WITH_CALL": values.build_unpack,
    "LIST_APPEND": values.into_container,
    "LIST_EXTEND": values.into_container,
    "SET_ADD": values.into_container,
    "SET_UPDATE": values.into_container,
    "MAP_ADD": values.into_container,
    "DICT_UPDATE": values.into_container,
    "DICT_MERGE": values.into_container,
    "LIST_TO_TUPLE": values.list_to_tuple,
    "BUILD_INTERPOLATION": templates.build_interpolation,
    "BUILD_TEMPLATE": templates.build_template,
    "CONVERT": values.convert,
    "FORMAT": values.format_value,
    "INTRINSIC": values.intrinsic,
    "STORE_FAST": assign.store_name,
    "STORE_DEREF": assign.store_name,
    "STORE_GLOBAL": assign.store_name,
    "STORE_NAME": assign.store_name,
    "STORE_ATTR": assign.store_attr,
    "STORE_SUBSCR": assign.store_subscr,
    "UNPACK_SEQUENCE": assign.unpack,
    "UNPACK_EX": assign.unpack,
    "IMPORT_NAME": imports.import_name,
    "IMPORT_LAZY": imports.import_name,
    "IMPORT_FROM": imports.import_from,
    "IMPORT_STAR": imports.import_star,
    "CALL": calls.call,
    "CALL_EX": calls.call_ex,
    "MAKE_FUNCTION": calls.make_function,
    "SET_FUNCTION_ATTRIBUTE": calls.set_function_attribute,
    "GET_ITER": calls.get_iter,
    "GET_AITER": calls.get_aiter,
    "GET_ANEXT": calls.get_anext,
    "GET_AWAITABLE": calls.get_awaitable,
    "GET_YIELD_FROM_ITER": calls.get_yield_from_iter,
    "YIELD_FROM": calls.yield_from,
    "YIELD": calls.yield_value,
    "CHECK_EXC_MATCH": calls.check_exc_match,
    "CHECK_EG_MATCH": calls.check_exc_match,
    "WITH_EXCEPT_START": calls.with_except_start,
    "POP": calls.pop,
    "SETUP_ANNOTATIONS": assign.setup_annotations,
    KEEP: _keep,
    "PUSH_EXC_INFO": _nothing,
    "UNGUARDED": _nothing,
    "POP_EXCEPT": _nothing,
}
