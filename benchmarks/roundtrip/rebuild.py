"""From decompiled text back to a code object, and from one code object to a module.

Free variables.  A closure's `def` cannot stand alone: compiled at module level
its free names would be globals.  So when the original has co_freevars the
text's statements are put (as AST, no re-indenting) in

    def __rt_outer__():
        a = None; b = None; ...      # one per name in co_freevars
        <the decompiled statements>

which makes each a cell of the outer function and hence free in the def, so
LOAD_DEREF/STORE_DEREF (with `nonlocal`), COPY_FREE_VARS, and `__class__` for
zero-argument super() all come out as in the original.  A def that assigns such
a name without `nonlocal` becomes wrong, as it should.  Without free variables
the text is compiled at module level.  The original's `from __future__` flags
are passed to compile(), because one def cannot carry them, and from 3.11 on the
names it used as imported modules are imported at module level (import_names).
The code object looked for is the one whose co_name is the expected name (or
PLACEHOLDER for lambdas, whose name cannot be a def's), preferring the last
top-level one.
"""
import __future__
import ast
import dis
import re
import sys
import types
import warnings

import library

PLACEHOLDER = "__rt_lambda__"
CodeType = types.CodeType
V = sys.version_info[:2]
FUTURE = 0
for _n in __future__.all_feature_names:
    if _n != "barry_as_FLUFL":
        FUTURE |= getattr(__future__, _n).compiler_flag
FUTURE &= ~0x1f   # never the CO_OPTIMIZED.. bits (nested_scopes is 0x10)


LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_DEREF")


def import_names(code, yes=None, no=None):
    """Names the original module imported, as far as the code shows it.

    From 3.11 on `m.f(x)` is compiled without the method-call form when the
    module has an `import` of m at top level, so a def compiled alone would
    differ from the original through no fault of its text.  A name is put among
    the imports when the original calls an attribute of it in the plain form
    and never in the method form; also a local name, as the compiler asks what the
    module imports under the name, whatever the name means in the function."""
    top = yes is None
    if top:
        yes, no = set(), set()
    ins = [i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "EXTENDED_ARG")]
    for k in range(len(ins) - 1):
        i, j = ins[k], ins[k + 1]
        if not i.opname.endswith(LOADS):
            continue
        name = i.argval[-1] if isinstance(i.argval, tuple) else i.argval    # two variables in one instruction
        if j.opname == "LOAD_METHOD" or (j.opname == "LOAD_ATTR" and V >= (3, 12) and j.arg & 1):
            no.add(name)
        elif j.opname == "LOAD_ATTR":
            if V >= (3, 13):
                null = k + 2 < len(ins) and ins[k + 2].opname == "PUSH_NULL"
            else:
                null = (i.arg & 1 if i.opname == "LOAD_GLOBAL"
                        else k > 0 and ins[k - 1].opname == "PUSH_NULL")
            if null:
                yes.add(name)
    for c in code.co_consts:
        if isinstance(c, CodeType):
            import_names(c, yes, no)
    return sorted(x for x in yes - no if x.isidentifier()) if top and V >= (3, 11) else []


def with_imports(tree, orig):
    names = import_names(orig)
    if names:
        at = 0
        while at < len(tree.body) and (
                isinstance(tree.body[at], ast.ImportFrom) and tree.body[at].module == "__future__"
                or at == 0 and isinstance(tree.body[at], ast.Expr)
                and isinstance(tree.body[at].value, ast.Constant)):
            at += 1
        tree.body[at:at] = [ast.Import(names=[ast.alias(name=n, asname=None)]) for n in names]
        ast.fix_missing_locations(tree)
    return tree


class NoParse(Exception):
    pass


class NoCompile(Exception):
    pass


def future_flags(code):
    return code.co_flags & FUTURE


def _find(code, name):
    """Last const code of that name, breadth first."""
    level = [code]
    while level:
        hit = None
        nxt = []
        for c in level:
            for k in c.co_consts:
                if isinstance(k, CodeType):
                    nxt.append(k)
                    if k.co_name == name:
                        hit = k
        if hit is not None:
            return hit
        level = nxt
    return None


def rebuild(src, orig):
    """Code object compiled from src that stands for orig."""
    name = orig.co_name
    is_lambda = name == "<lambda>"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(src)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
            raise NoParse("%s: %s" % (type(e).__name__, e))
        try:
            if orig.co_freevars:
                body = [ast.Assign(targets=[ast.Name(id=v, ctx=ast.Store())],
                                   value=ast.Constant(value=None, kind=None), type_comment=None)
                        for v in orig.co_freevars]
                tmpl = ast.parse("def __rt_outer__():\n pass")
                tmpl.body[0].body = body + tree.body
                tree = ast.fix_missing_locations(tmpl)
            mod = compile(with_imports(tree, orig), "<rt>", "exec", flags=future_flags(orig),
                          dont_inherit=True, optimize=library.optimize)
        except (SyntaxError, ValueError, RecursionError, TypeError, MemoryError, SystemError) as e:
            raise NoCompile("%s: %s" % (type(e).__name__, e))
    names = [name] if not is_lambda else [PLACEHOLDER, "<lambda>"]
    for n in names:
        c = _find(mod, n)
        if c is not None:
            return c
    raise NoCompile("no code object named %s" % name)


def parameters(code):
    names = code.co_varnames
    pos, kwo, po = code.co_argcount, code.co_kwonlyargcount, getattr(code, "co_posonlyargcount", 0)
    out = []
    for i in range(pos):
        out.append(names[i])
        if po and i == po - 1:
            out.append("/")
    k = pos + kwo
    if code.co_flags & 4:
        out.append("*" + names[k])
        k += 1
    elif kwo:
        out.append("*")
    out.extend(names[pos:pos + kwo])
    if code.co_flags & 8:
        out.append("**" + names[k])
    return ", ".join(out)


def renamed(code, around):
    """The code with the qualified names in it beginning as they do where it stands now.

    Up to 3.10 these are constants; from 3.11 on code objects say them themselves."""
    begin = re.compile(r"^(?:[^<]+\.(?:<locals>\.)?)*%s\.<locals>\." % re.escape(code.co_name))

    def rename(c):
        consts = []
        for k in c.co_consts:
            if isinstance(k, CodeType):
                k = rename(k)
            elif isinstance(k, str):
                k = begin.sub(around + code.co_name + ".<locals>.", k, count=1)
            consts.append(k)
        return _with_consts(c, tuple(consts))
    return code if hasattr(code, "co_qualname") else rename(code)


def as_module(code):
    """A module code object holding just `code` as a def or `name = lambda`.

    Lets whole-module (.pyc) decompilers be measured on single functions: one
    unreadable function then does not spoil a whole module.  A template with
    the same parameters and free variables is compiled and its function's code
    object is replaced by `code`."""
    fv = code.co_freevars
    body = "(%s)" % "".join(v + ", " for v in fv) if fv else "0"
    if code.co_name == "<lambda>":
        line = "%s = lambda %s: %s" % (PLACEHOLDER, parameters(code), body)
    else:
        line = "def %s(%s): return %s" % (code.co_name, parameters(code), body)
    if fv:
        src = "def __rt_outer__():\n" + "".join(" %s = None\n" % v for v in fv) + " " + line + "\n"
    else:
        src = line + "\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mod = compile(src, "<rt>", "exec", dont_inherit=True, optimize=library.optimize)

    def swap(c):
        consts = list(c.co_consts)
        for i, k in enumerate(consts):
            if isinstance(k, CodeType):
                if k.co_name == code.co_name:
                    consts[i] = renamed(code, "__rt_outer__.<locals>." if fv else "")
                elif k.co_name == "__rt_outer__":
                    consts[i] = swap(k)
        return _with_consts(c, tuple(consts))
    return swap(mod)


def _with_consts(code, consts):
    if hasattr(code, "replace"):
        return code.replace(co_consts=consts)
    return CodeType(code.co_argcount, code.co_kwonlyargcount, code.co_nlocals, code.co_stacksize, code.co_flags,
                    code.co_code, consts, code.co_names, code.co_varnames, code.co_filename, code.co_name,
                    code.co_firstlineno, code.co_lnotab, code.co_freevars, code.co_cellvars)


def rebuild_module(src, flags=0, single=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(src)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
            raise NoParse("%s: %s" % (type(e).__name__, e))
        if single is not None:
            tree = with_imports(tree, single)
        try:
            return compile(tree, "<rt>", "exec", flags=flags, dont_inherit=True, optimize=library.optimize)
        except (SyntaxError, ValueError, RecursionError, TypeError, MemoryError, SystemError) as e:
            raise NoCompile("%s: %s" % (type(e).__name__, e))


def rebuild_from_module(src, orig):
    """For text that a .pyc decompiler made of as_module(orig)."""
    mod = rebuild_module(src, future_flags(orig), orig)
    for n in ([orig.co_name] if orig.co_name != "<lambda>" else ["<lambda>", PLACEHOLDER]):
        c = _find(mod, n)
        if c is not None:
            return c
    raise NoCompile("no code object named %s" % orig.co_name)
