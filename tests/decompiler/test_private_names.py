"""Names that the compiler mangles, wherever a class can hold them."""

from __future__ import annotations

import pytest

from tests import interpreters
from tests.decompiler.again import exact

every_version = pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)

SOURCE = """
import sys as __outside

class __Outer:
    __field: int = 1
    __slots__ = ("__a", "b")
    import os as __os
    from os import path as __path, sep as __dunder__
    import __missing
    import __package.module

    def __method(self, __x, *__args, __k=None, **__rest):
        __local = self.__field
        global __shared
        __shared = self.__method(__x, __k=__k, *__args)
        for __item in __rest:
            del __item
        with __x as __y:
            pass
        def __inner():
            nonlocal __local
            __local = lambda __p=__x: __p + __local
            return [__i for __i in __args if __i]

        class __Nested:
            __z = __x

            def __f(self):
                return self.__z, __shared, __Nested

        return __inner, __Nested, __local

    @property
    def __value(self):
        return self.__value.__real__

    @__value.setter
    def __value(self, __new):
        self.__field += __new


class _:
    def f(self):
        return self.__x


class ___:
    __a = 1

    def f(self):
        return self.__a
"""


@every_version
def test_private_names_come_back(version: tuple[int, int]) -> None:
    exact(SOURCE, version)
