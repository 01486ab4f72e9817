# from 3.7: displays, unpacking, calls, formatting, subscripts, names
import os.path as path
from collections import OrderedDict, namedtuple

POINT = namedtuple("POINT", "x y")
deleted = 1
del deleted


def unpacking(items):
    a, *b, c = items
    (d, e), f = [a, c], b
    x = y = [*items, *(1, 2)]
    t = (*items, 0)
    s = {*items, *items}
    m = {**{"a": 1}, "b": 2, **{"c": 3}}
    d, e, f = f, d, e
    d, e = e, d
    return a, b, c, d, e, f, x is y, t, sorted(s), m


def calls(*args, k=1, **kwargs):
    return args, k, sorted(kwargs.items())


def formats(v):
    w = 9
    return f"{v} {v!r:>{w}} {v!s} {v:{w}} {v!a}" + "%s" % v + f"{v}"


def subscripts(x):
    y = list(x)
    y[0] += 5
    y[1:3] = [9]
    del y[-1]
    z = y[1:], y[:1], y[::2], y[0]
    d = {"k": 1}
    d["k"] -= 3
    d["new"], d["k"] = d["k"], 7
    y[1:2] += [4]
    return y, z, d


class Box:
    attr = 1
    attr += 1

    def __init__(self, v):
        self.v = v
        self.v *= 2
        self.w = None
        del self.w

    def __matmul__(self, other):
        return ("@", self.v, other)

    def __getitem__(self, key):
        return key


def operators(a, b):
    c = a
    c += b
    c //= 2
    c **= 2
    c %= 1000
    c <<= 2
    c >>= 1
    c |= 5
    c &= 0xFF
    c ^= 3
    return a + b, a - b, a * b, a / b, a // b, a % b, a**b, a << b, a >> b, a & b, a | b, a ^ b, -a, +a, ~a, not a, c


def scopes():
    x = 1
    seen = []

    def inner():
        nonlocal x
        x += 1
        seen.append(x)
        return lambda: (x, seen)

    inner()
    global made
    made = x
    f = inner()
    del seen[0]
    y = 0
    del y
    return f(), made


def big():
    v = "v"
    return [v, 1, 2, 3, v] + [{"a": v, "b": v}, {v: 1}, (v, 1), {v}]


def defaults(a, b=[1], *, c=(2,), d: int = 3) -> str:
    return a, b, c, d


def main():
    kw = {"z": 1, "y": 2}
    return [
        unpacking([1, 2, 3, 4]),
        calls(1, 2, k=3, q=4),
        calls(*[1], *[2], **kw),
        calls(0, *(1,), k=2, **kw),
        calls("a".join(["x", "y"]), "b".upper().lower()),
        formats(1.5),
        formats("é"),
        subscripts([1, 2, 3, 4, 5]),
        Box(2) @ 3,
        Box(1)[1:2, ::3],
        Box(4).v,
        Box.attr,
        operators(13, 3),
        scopes(),
        big(),
        defaults(1, c=5),
        path.join("a", "b"),
        POINT(1, y=2)._replace(x=3),
        list(OrderedDict(a=1).items()),
        sorted({k: v for k, v in [(1, 2)]}.items()),
        [x * y for x in range(3) if x for y in range(2)],
        sorted({x % 3 for x in range(9)}),
        list(x for x in range(3)),
        [[y for y in range(x)] for x in range(3)],
        (lambda a, *b, c=1: (a, b, c))(1, 2, c=3),
    ]
