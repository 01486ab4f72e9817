"""Controls for normal.same_code.

positive: every stdlib module's AST compiled (a) with every node on line 1,
  (b) with every node on its own line, and (c, 3.9+) unparsed; all must be exact.
negative: one AST mutation per function; must not be exact.
closure:  (3.9+) every def's own text alone (no decorators, defaults, annotations)
  through rebuild.rebuild(); must be exact (private names mangled by a class: skipped).

    $PY selftest.py [N]         of N modules (about; evenly spread) or of all
"""
import ast
import copy
import random
import sys
import os
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import library
import normal
import rebuild

sys.setrecursionlimit(5000)


def comp(tree):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(tree, "<x>", "exec", dont_inherit=True, optimize=0)


def relined(tree, mode):
    """The tree with all nodes on one line, or each on its own.

    The lines of neighbours differ by an even number: 3.7 leaves code unoptimised whose line table holds a byte 255,
    and one line back is such a byte."""
    t = copy.deepcopy(tree)
    for k, n in enumerate(ast.walk(t)):
        if hasattr(n, "lineno"):
            n.lineno = n.end_lineno = 1 if mode == "one" else 1 + 2 * k
            n.col_offset = n.end_col_offset = 0
    return t


def flat(visited):
    return visited if isinstance(visited, list) else [visited]


class Mutate(ast.NodeTransformer):
    def __init__(self, target):
        self.k, self.target, self.what = 0, target, None

    def hit(self, what):
        self.k += 1
        if self.k - 1 == self.target:
            self.what = what
            return True
        return False

    def visit_JoinedStr(self, n):
        return n

    def visit_Constant(self, n):
        if type(n.value) is int and self.hit("const"):
            return ast.copy_location(ast.Constant(value=n.value + 1, kind=None), n)
        return n

    def visit_Num(self, n):             # what 3.7 has for a number
        if type(n.n) is int and self.hit("const"):
            n.n += 1
        return n

    def visit_While(self, n):           # another number that is true is the same test
        if not hasattr(n.test, "value") and not hasattr(n.test, "n"):
            n.test = self.visit(n.test)
        for part in (n.body, n.orelse):
            part[:] = [x for old in part for x in flat(self.visit(old))]
        return n

    def visit_Compare(self, n):
        self.generic_visit(n)
        if type(n.ops[0]) in (ast.Lt, ast.Eq, ast.In, ast.Is) and self.hit("cmp"):
            n.ops[0] = {ast.Lt: ast.LtE, ast.Eq: ast.NotEq, ast.In: ast.NotIn, ast.Is: ast.IsNot}[type(n.ops[0])]()
        return n

    def visit_BoolOp(self, n):
        self.generic_visit(n)
        if self.hit("boolop"):
            n.op = ast.Or() if isinstance(n.op, ast.And) else ast.And()
        return n

    def visit_If(self, n):
        self.generic_visit(n)
        if not isinstance(n.test, ast.Constant) and self.hit("not"):
            n.test = ast.copy_location(ast.UnaryOp(op=ast.Not(), operand=n.test), n.test)
        return n

    def visit_Continue(self, n):
        return ast.copy_location(ast.Break(), n) if self.hit("continue") else n

    def visit_Break(self, n):
        return ast.copy_location(ast.Continue(), n) if self.hit("break") else n

    def visit_Return(self, n):
        self.generic_visit(n)
        if n.value is not None and getattr(n.value, "value", n) is not None and self.hit("return"):
            n.value = None
        return n

    def visit_Assign(self, n):
        self.generic_visit(n)
        t = n.targets[0]
        if (isinstance(t, ast.Tuple) and len(t.elts) > 1
                and ast.dump(t.elts[0]) != ast.dump(t.elts[-1]) and self.hit("targets reversed")):
            t.elts.reverse()
        return n

    def visit_Try(self, n):
        self.generic_visit(n)
        if n.handlers and not n.orelse and self.hit("handlers dropped"):
            if n.finalbody:
                n.handlers = []
                return n
            return n.body
        return n

    def visit_Attribute(self, n):
        self.generic_visit(n)
        if self.hit("attr"):
            n.attr += "_x"
        return n


def pairs(old, new):
    """(path, code, its counterpart or None), from the outside in.

    The compiler makes one constant of equal code objects, and whether two are equal depends on their lines: where an
    object holds another number of a name than its counterpart does, none of them has a counterpart."""
    todo = [("", old, new)]
    while todo:
        path, x, y = todo.pop()
        yield path, x, y
        mine, others = named(x), named(y) if y is not None else {}
        for name, kids in mine.items():
            matched = others.get(name, ())
            matched = matched if len(matched) == len(kids) else [None] * len(kids)
            todo.extend(("%s.%s#%d" % (path, name, k), a, b) for k, (a, b) in enumerate(zip(kids, matched)))


def named(code):
    """The code objects among the constants of another, by name."""
    by_name = {}
    for k in code.co_consts:
        if isinstance(k, library.CodeType):
            by_name.setdefault(k.co_name, []).append(k)
    return by_name


def mangled(x):
    s = x.id if isinstance(x, ast.Name) else x.attr if isinstance(x, ast.Attribute) else x.arg
    return s.startswith("__") and not s.endswith("__")


def main():
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 10 ** 9
    bad = {"one": [0, 0], "many": [0, 0], "unparse": [0, 0], "mutant": [0, 0], "closure": [0, 0]}
    rnd = random.Random(0)
    absent, kinds = {}, {}
    t0 = time.time()
    modules = library.modules(library.stdlib_dir())
    for rel, path, code in modules[::max(1, len(modules) // limit)]:
        with open(path, "rb") as f:
            data = f.read()
        tree = ast.parse(data)
        flags = code.co_flags & rebuild.FUTURE
        vs = [("one", relined(tree, "one")), ("many", relined(tree, "many"))]
        if hasattr(ast, "unparse"):
            try:
                vs.append(("unparse", ast.unparse(tree)))
            except (RecursionError, ValueError):
                pass
        for name, t in vs:
            try:
                c2 = comp(t)
            except (SyntaxError, RecursionError) as e:
                print("  cannot compile", name, rel, e)
                continue
            for p, old, new in pairs(code, c2):
                if new is None:     # no counterpart; counted apart, not hidden
                    absent[name] = absent.get(name, 0) + 1
                    continue
                bad[name][1] += 1
                v = normal.same_code(old, new, True)
                if not v.exact:
                    bad[name][0] += 1
                    if bad[name][0] <= 12:
                        print("  NOT EXACT", name, rel, p, v.reason)
        # rebuild control: every def's own text, alone
        if hasattr(ast, "unparse"):
            where = {}
            for n in ast.walk(tree):
                if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    first = n.decorator_list[0].lineno if n.decorator_list else n.lineno
                    where.setdefault((n.name, first), []).append(n)
            for p, k, c in library.walk(code):
                if k != "function" or len(where.get((c.co_name, c.co_firstlineno), ())) != 1:
                    continue
                n = copy.deepcopy(where[c.co_name, c.co_firstlineno][0])
                if "__" in ast.unparse(n).replace("__class__", "") and any(
                        isinstance(x, (ast.Name, ast.Attribute, ast.arg)) and mangled(x) for x in ast.walk(n)):
                    continue
                n.decorator_list, n.returns = [], None
                if hasattr(n, "type_params"):
                    n.type_params = []
                a = n.args
                a.defaults, a.kw_defaults = [], [None] * len(a.kwonlyargs)
                for x in a.posonlyargs + a.args + a.kwonlyargs + [a.vararg, a.kwarg]:
                    if x is not None:
                        x.annotation = None
                outer = [v for v in c.co_freevars]
                text = ast.unparse(n)
                if any(isinstance(x, ast.Nonlocal) for x in ast.walk(n)) and not outer:
                    continue
                bad["closure"][1] += 1
                try:
                    v = normal.same_code(c, rebuild.rebuild(text, c))
                    why = v.reason if not v.exact else ("doc" if not v.doc else "")
                except (rebuild.NoParse, rebuild.NoCompile) as e:
                    why = repr(e)
                if why:
                    bad["closure"][0] += 1
                    if bad["closure"][0] <= 12:
                        print("  DEF ALONE NOT EXACT", rel, p, why)
        # negative control
        count = Mutate(-1)
        count.visit(copy.deepcopy(tree))
        for k in rnd.sample(range(count.k), min(count.k, 12)):
            m = Mutate(k)
            t = m.visit(copy.deepcopy(tree))
            try:
                c2 = comp(ast.fix_missing_locations(t))
            except SyntaxError:
                continue
            bad["mutant"][1] += 1
            kinds[m.what] = kinds.get(m.what, 0) + 1
            if normal.same_code(code, c2, True).exact:
                bad["mutant"][0] += 1
                if bad["mutant"][0] <= 12:
                    print("  MUTANT SURVIVED", rel, m.what, k)
    for k in ("one", "many", "unparse", "closure", "mutant"):
        print("%-8s %s %d of %d" % (k, "survived" if k == "mutant" else "not exact", bad[k][0], bad[k][1]))
    print("no counterpart by path:", absent, " mutants:", kinds)
    print("python", sys.version.split()[0], "%.0f s" % (time.time() - t0))


if __name__ == "__main__":
    main()
