# from 3.10: match statements, walrus, positional-only parameters
class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


def match(value):
    match value:
        case 0 | 1:
            return "small"
        case Point(0, y):
            return ("axis", y)
        case Point(x, y) if x == y:
            return ("diagonal", x)
        case Point(x=x):
            return ("point", x)
        case [a, b]:
            return ("pair", a, b)
        case [first, *rest, last]:
            return ("many", first, rest, last)
        case {"k": k, "t": str() as t, **rest}:
            return ("map", k, t, rest)
        case {"k": [1, {"d": d}]}:
            return ("deep", d)
        case str() | bytes():
            return "text"
        case None:
            return "none"
        case float(f):
            return ("float", f)
        case _:
            return "other"


def positional(a, b=2, /, c=3, *, d=4):
    return a, b, c, d


def walrus(items):
    if (n := len(items)) > 1:
        return [y := n, y**2, [last := x for x in items], last]
    return n


def main():
    values = [0, 1, Point(0, 5), Point(2, 2), Point(3, 4), [1, 2], (1, 2, 3, 4), {"k": 1, "t": "s", "z": 0}]
    values += [{"k": [1, {"d": "deep"}]}, {"k": 1}, "text", b"", None, 1.5, [1], object]
    return [match(value) for value in values] + [positional(1, 5, d=6), walrus([1, 2]), walrus([])]
