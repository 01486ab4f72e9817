# from 3.7: loops, conditions, conditional values, chained comparisons
def conditions(a, b, c):
    out = []
    if a and b or c:
        out.append("or")
    if not (a and (b or not c)):
        out.append("not")
    out.append(a and b or c)
    out.append((a or b) and c)
    out.append(1 if a else 2 if b else 3)
    out.append(0 < len(out) <= 3 != 7)
    if a is None or b is not None:
        out.append("none")
    while a:
        a -= 1
        if b:
            continue
        if c:
            break
        out.append(a)
    else:
        out.append("else")
    return out


def loops():
    out = []
    for i in range(4):
        for j in range(4):
            if j == 2:
                continue
            if i == 2:
                break
            out.append((i, j))
        else:
            out.append("inner else")
            continue
        out.append("broken")
    else:
        out.append("outer else")
    for i in []:
        pass
    return out


def returns(n):
    for i in range(5):
        for j in range(5):
            if i * j == n:
                return i, j


def main():
    out = [loops(), [returns(n) for n in range(9)]]
    for a in (0, 1, 2, None):
        for b in (0, 1, None):
            for c in (0, 1):
                out.append(conditions(a, b, c))
    assert out, "never"
    return out
