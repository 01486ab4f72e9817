#!/usr/bin/env python3
"""Measure a Python decompiler by round trip.  See README.md beside this file.

  roundtrip.py run --adapter depyf_peer --corpus stdlib --sample 3000 --out x.jsonl
  roundtrip.py run --adapter pycdc --mode module --sample 200 ...
  roundtrip.py summary x.jsonl [y.jsonl ...]
  roundtrip.py growth --adapter depyf_peer --limit 20
"""
import argparse
import importlib
import json
import marshal
import os
import random
import resource
import select
import signal
import struct
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import library      # noqa: E402
import normal      # noqa: E402
import rebuild     # noqa: E402


class Timeout(BaseException):
    pass


def _alarm(sig, frame):
    raise Timeout()


def timed(fn, arg, limit):
    """(result, seconds); re-fires, as decompilers may swallow BaseException."""
    signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, limit, 0.3)
    t = time.perf_counter()
    try:
        r = fn(arg)
        return r, time.perf_counter() - t
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def write_pyc(code, path):
    import importlib.util
    with open(path, "wb") as f:
        f.write(importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, 0, 0))
        f.write(marshal.dumps(code))


def root_cause(e):
    seen = 0
    while (e.__cause__ or e.__context__) is not None and seen < 50:
        e = e.__cause__ or e.__context__
        seen += 1
    return ("%s: %s" % (type(e).__name__, e)).splitlines()[0][:160]


class Measurer(object):
    def __init__(self, adapter, limit):
        self.ad = importlib.import_module("adapters." + adapter)
        self.limit = limit
        self.tmp = tempfile.mkdtemp(prefix="rt_")

    def text(self, code, module):
        """(source, seconds, is_module_text)"""
        ad = self.ad
        if not module and hasattr(ad, "decompile_function"):
            s, t = timed(ad.decompile_function, code, self.limit)
            return s, t, False
        m = code if module else rebuild.as_module(code)
        if hasattr(ad, "decompile_module_code"):
            s, t = timed(ad.decompile_module_code, m, self.limit)
            return s, t, True
        p = os.path.join(self.tmp, "m.opt-%d.pyc" % library.optimize if library.optimize else "m.pyc")
        write_pyc(m, p)
        s, t = timed(ad.decompile_pyc, p, self.limit)
        return s, t, True

    def one(self, ident, kind, code, keep):
        module = kind == "module"
        r = {"id": ident, "kind": kind, "n": normal.count_instructions(code),
             "status": "fail", "ok_parse": False, "exact": False, "linear": False,
             "doc": False, "t": None, "reason": ""}
        t0 = time.perf_counter()
        try:
            src, r["t"], as_mod = self.text(code, module)
        except Timeout:
            r.update(status="timeout", t=time.perf_counter() - t0)
            return r
        except (Exception, SystemExit) as e:
            r.update(reason=root_cause(e), t=time.perf_counter() - t0)
            return r
        if not isinstance(src, str) or not src.strip():
            r["reason"] = "empty"
            return r
        if keep:
            r["src"] = src
        try:
            if module:
                new = rebuild.rebuild_module(src, rebuild.future_flags(code))
            elif as_mod:
                new = rebuild.rebuild_from_module(src, code)
            else:
                new = rebuild.rebuild(src, code)
        except rebuild.NoParse as e:
            r.update(status="noparse", reason=str(e)[:160])
            return r
        except rebuild.NoCompile as e:
            r.update(status="nocompile", ok_parse=True, reason=str(e)[:160])
            return r
        r["ok_parse"] = True
        v = normal.same_code(code, new)
        r.update(status="exact" if v.exact else "wrong", exact=v.exact,
                 linear=v.linear, doc=v.exact and v.doc, reason=v.reason[:200])
        if module:      # per nested code object as well, matched by path
            o = [(p, k, c) for p, k, c in library.walk(code) if k != "module"]
            n = dict((p, c) for p, k, c in library.walk(new))
            good = sum(1 for p, k, c in o if p in n and normal.same_code(c, n[p], True).exact)
            r.update(nested=len(o), nested_exact=good)
        return r


def worker(items, start, wfd, args):
    """Child: measures items[start:], one JSON line each, framed by newlines."""
    resource.setrlimit(resource.RLIMIT_AS, (args.mem << 30, args.mem << 30))
    sys.setrecursionlimit(args.recursion)
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    m = Measurer(args.adapter, args.limit)
    w = os.fdopen(wfd, "w")
    for i in range(start, len(items)):
        w.write("S %d\n" % i)
        w.flush()
        ident, kind, code = items[i]
        try:
            r = m.one(ident, kind, code, args.keep_source)
        except Timeout:
            r = {"id": ident, "kind": kind, "n": 0, "status": "timeout", "t": args.limit,
                 "ok_parse": False, "exact": False, "linear": False, "doc": False, "reason": "late"}
        except Exception as e:      # the harness itself failed: say so, do not hide it
            r = {"id": ident, "kind": kind, "n": 0, "status": "harness", "t": None,
                 "ok_parse": False, "exact": False, "linear": False, "doc": False,
                 "reason": "%s: %s" % (type(e).__name__, e)}
        w.write("R " + json.dumps(r) + "\n")
        w.flush()
    w.close()


def measure(items, args, out):
    """Runs workers until every item has a line; a crash or hang costs one item."""
    results, i = [], 0

    def emit(r):
        results.append(r)
        out.write(json.dumps(r) + "\n")
        out.flush()

    while i < len(items):
        rfd, wfd = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(rfd)
            try:
                worker(items, i, wfd, args)
            finally:
                os._exit(0)
        os.close(wfd)
        buf, last, killed = b"", time.time(), False
        while True:
            ready, _, _ = select.select([rfd], [], [], 1.0)
            if ready:
                data = os.read(rfd, 1 << 16)
                if not data:
                    break
                last = time.time()
                buf += data
                lines = buf.split(b"\n")
                buf = lines.pop()
                for ln in lines:
                    if ln[:2] == b"R ":
                        emit(json.loads(ln[2:].decode("utf-8")))
                        i += 1
            elif time.time() - last > 4 * args.limit + 20:
                os.kill(pid, signal.SIGKILL)
                killed = True
        os.close(rfd)
        os.waitpid(pid, 0)
        if i < len(items):
            ident, kind, code = items[i]
            emit({"id": ident, "kind": kind, "n": normal.count_instructions(code),
                  "status": "timeout" if killed else "crash", "t": None, "ok_parse": False,
                  "exact": False, "linear": False, "doc": False, "reason": "worker died"})
            i += 1
    return results


def pct(a, b):
    return "%5.1f" % (100.0 * a / b) if b else "    -"


def quantile(v, q):
    return v[min(len(v) - 1, int(q * len(v)))] if v else 0.0


def summarise(rs):
    n = len(rs)
    c = {}
    for r in rs:
        c[r["status"]] = c.get(r["status"], 0) + 1
    ts = sorted(r["t"] for r in rs if r.get("t") is not None)
    tot = sum(ts)
    ins = sum(r["n"] for r in rs if r.get("t") is not None)
    row = {"n": n, "exact": c.get("exact", 0), "linear": sum(1 for r in rs if r["linear"]),
           "doc": sum(1 for r in rs if r["doc"]), "wrong": c.get("wrong", 0),
           "nocompile": c.get("nocompile", 0), "noparse": c.get("noparse", 0),
           "fail": c.get("fail", 0), "timeout": c.get("timeout", 0), "crash": c.get("crash", 0),
           "harness": c.get("harness", 0), "ok_parse": sum(1 for r in rs if r["ok_parse"]),
           "ins_s": ins / tot if tot else 0, "obj_s": len(ts) / tot if tot else 0,
           "p50": quantile(ts, .5), "p99": quantile(ts, .99), "max": ts[-1] if ts else 0}
    if any("nested" in r for r in rs):
        row["nested"] = sum(r.get("nested", 0) for r in rs)
        row["nested_exact"] = sum(r.get("nested_exact", 0) for r in rs)
    return row


HEAD = ("%-34s %6s | %6s %6s %6s | %6s %6s %6s %6s %6s %5s | %8s %7s %8s %8s"
        % ("file", "n", "exact%", "lin%", "+doc%", "wrong%", "nocmp%", "nopar%", "fail%",
           "t/o%", "crash", "ins/s", "obj/s", "p50 ms", "p99 ms"))


def print_row(name, s):
    n = s["n"]
    print("%-34s %6d | %6s %6s %6s | %6s %6s %6s %6s %6s %5d | %8.0f %7.0f %8.2f %8.2f"
          % (name[-34:], n, pct(s["exact"], n), pct(s["linear"], n), pct(s["doc"], n),
             pct(s["wrong"], n), pct(s["nocompile"], n), pct(s["noparse"], n), pct(s["fail"], n),
             pct(s["timeout"], n), s["crash"] + s["harness"], s["ins_s"], s["obj_s"],
             s["p50"] * 1e3, s["p99"] * 1e3))
    if "nested" in s:
        print("%-34s nested code objects exact: %d of %d (%s%%)"
              % ("", s["nested_exact"], s["nested"], pct(s["nested_exact"], s["nested"]).strip()))


def reasons(rs, status, top=8):
    import re
    c = {}
    for r in rs:
        if r["status"] == status:
            k = r["reason"].split(": ", 1)[-1] if r["reason"].startswith("/") else r["reason"]
            k = re.sub(r"0x[0-9a-f]+|\d+", "N", k)
            k = re.sub(r"'[^']*'|\"[^\"]*\"|\(.*", "..", k)[:70]
            c[k] = c.get(k, 0) + 1
    return sorted(c.items(), key=lambda x: -x[1])[:top]


def cmd_run(a):
    library.optimize = a.optimize
    root = library.stdlib_dir() if a.corpus == "stdlib" else a.corpus
    if a.mode == "module":
        items = [(rel, "module", m) for rel, path, m in library.modules(root)]
    else:
        items = library.collect(root, tuple(a.kinds.split(",")))
    total = len(items)
    if a.match:
        items = [x for x in items if a.match in x[0]]
    if a.max_instr:
        items = [x for x in items if len(x[2].co_code) <= 2 * a.max_instr]
    if a.sample and a.sample < len(items):
        items = random.Random(a.seed).sample(items, a.sample)
    t0 = time.time()
    with (open(a.out, "w") if a.out else open(os.devnull, "w")) as out:
        rs = measure(items, a, out)
    s = summarise(rs)
    print("python %s adapter %s corpus %s (%d objects, %d measured) seed %d limit %g s, %.0f s"
          % (sys.version.split()[0], a.adapter, a.corpus, total, len(rs), a.seed, a.limit, time.time() - t0))
    print(HEAD)
    print_row(os.path.basename(a.out or a.adapter), s)
    for st in ("fail", "wrong", "noparse", "nocompile", "harness"):
        for k, v in reasons(rs, st, a.reasons):
            print("   %-9s %5d  %s" % (st, v, k))


def cmd_summary(a):
    print(HEAD)
    for f in a.files:
        with open(f) as fh:
            rs = [json.loads(x) for x in fh if x.strip()]
        if rs:
            print_row(os.path.basename(f), summarise(rs))
            if a.bysize:
                for lo, hi in ((0, 20), (20, 50), (50, 100), (100, 200), (200, 500), (500, 10 ** 9)):
                    sub = [r for r in rs if lo <= r["n"] < hi]
                    if sub:
                        print_row("   n in [%d,%d)" % (lo, hi), summarise(sub))


# -- growth ---------------------------------------------------------------
def _ind(k):
    return "    " * k


def synth(family, n):
    b = []
    if family == "straight":
        b = [_ind(1) + "x%d = a + %d" % (i % 50, i) for i in range(n)]
    elif family == "calls":
        b = [_ind(1) + "f(a, %d, k=b)" % i for i in range(n)]
    elif family == "seq_if":
        for i in range(n):
            b += [_ind(1) + "if a > %d:" % i, _ind(2) + "b += %d" % i]
    elif family == "seq_ifelse":
        for i in range(n):
            b += [_ind(1) + "if a > %d:" % i, _ind(2) + "b += %d" % i, _ind(1) + "else:", _ind(2) + "c += 1"]
    elif family == "seq_ifreturn":
        for i in range(n):
            b += [_ind(1) + "if a == %d:" % i, _ind(2) + "return b + %d" % i]
    elif family == "elif":
        for i in range(n):
            b += [_ind(1) + ("if" if i == 0 else "elif") + " a == %d:" % i, _ind(2) + "b = %d" % i]
        b += [_ind(1) + "else:", _ind(2) + "b = -1"]
    elif family == "nested_if":
        for i in range(n):
            b.append(_ind(1) + " " * i + "if a > %d:" % i)
        b.append(_ind(1) + " " * n + "b = 1")
    elif family == "nested_ifelse":
        for i in range(n):
            b.append(_ind(1) + " " * i + "if a > %d:" % i)
        b.append(_ind(1) + " " * n + "b = 1")
        for i in reversed(range(n)):
            b += [_ind(1) + " " * i + "else:", _ind(1) + " " * (i + 1) + "c = %d" % i]
    elif family == "and_cond":
        b = [_ind(1) + "if " + " and ".join("a > %d" % i for i in range(n)) + ":", _ind(2) + "b = 1"]
    elif family == "or_cond":
        b = [_ind(1) + "if " + " or ".join("a > %d" % i for i in range(n)) + ":", _ind(2) + "b = 1"]
    elif family == "mixed_cond":
        b = [_ind(1) + "if " + " or ".join("(a > %d and b < %d)" % (i, i) for i in range(n)) + ":", _ind(2) + "b = 1"]
    elif family == "and_value":
        b = [_ind(1) + "b = " + " and ".join("f(%d)" % i for i in range(n))]
    elif family == "mixed_value":
        b = [_ind(1) + "b = " + " or ".join("(f(%d) and g(%d))" % (i, i) for i in range(n))]
    elif family == "ternary":
        b = [_ind(1) + "b = " + "".join("%d if a > %d else " % (i, i) for i in range(n)) + "c"]
    elif family == "loop_if_continue":
        b = [_ind(1) + "for x in a:"]
        for i in range(n):
            b += [_ind(2) + "if x == %d:" % i, _ind(3) + "continue"]
        b.append(_ind(2) + "f(x)")
    elif family == "loop_if":
        b = [_ind(1) + "while a:"]
        for i in range(n):
            b += [_ind(2) + "if a == %d:" % i, _ind(3) + "b = %d" % i]
    elif family == "seq_for":
        for i in range(n):
            b += [_ind(1) + "for x in a:", _ind(2) + "f(x, %d)" % i]
    elif family == "nested_for":
        for i in range(n):
            b.append(_ind(1) + " " * i + "for x%d in a:" % i)
        b.append(_ind(1) + " " * n + "f(x0)")
    elif family == "seq_try":
        for i in range(n):
            b += [_ind(1) + "try:", _ind(2) + "f(%d)" % i, _ind(1) + "except ValueError:", _ind(2) + "g(%d)" % i]
    elif family == "seq_with":
        for i in range(n):
            b += [_ind(1) + "with f(%d) as x:" % i, _ind(2) + "g(x)"]
    elif family == "nested_def":
        for i in range(n):
            b.append(_ind(1) + " " * i + "def h%d(x):" % i)
        b.append(_ind(1) + " " * n + "return x")
    elif family == "seq_comp":
        b = [_ind(1) + "b = [x + %d for x in a if x]" % i for i in range(n)]
    elif family == "big_list":
        b = [_ind(1) + "b = [" + ", ".join("f(%d)" % i for i in range(n)) + "]"]
    elif family == "binop_chain":
        b = [_ind(1) + "b = a" + "".join(" + f(%d)" % i for i in range(n))]
    else:
        raise KeyError(family)
    return "def t(a, b, c, f, g):\n" + "\n".join(b) + "\n    return b\n"


FAMILIES = ["straight", "calls", "big_list", "binop_chain", "seq_if", "seq_ifelse", "seq_ifreturn",
            "elif", "nested_if", "nested_ifelse", "and_cond", "or_cond", "mixed_cond", "and_value",
            "mixed_value", "ternary", "loop_if", "loop_if_continue", "seq_for", "nested_for",
            "seq_try", "seq_with", "seq_comp", "nested_def"]
CAP = {"nested_for": 19, "nested_if": 80, "nested_ifelse": 80, "nested_def": 40, "ternary": 80,
       "and_value": 640, "binop_chain": 640, "mixed_value": 320}


def cmd_growth(a):
    ns = [int(x) for x in a.ns.split(",")]
    fams = a.families.split(",") if a.families else FAMILIES
    print("python %s adapter %s limit %g s; seconds per decompile; suffix: = exact, ! wrong text, x fail/no parse, T timeout, C crash"
          % (sys.version.split()[0], a.adapter, a.limit))
    print("%-18s" % "family" + "".join("%11s" % ("n=%d" % n) for n in ns))
    rows = []
    for fam in fams:
        cells, dead = [], False
        for n in ns:
            if n > CAP.get(fam, 10 ** 9):
                continue
            if dead:
                cells.append("")
                continue
            try:
                mod = compile(synth(fam, n), "<synth>", "exec", dont_inherit=True)
            except (SyntaxError, RecursionError, MemoryError):
                cells.append("n/a")
                continue
            code = [c for c in mod.co_consts if hasattr(c, "co_code")][0]
            a.keep_source = False
            with open(os.devnull, "w") as out:
                r = measure([("%s/%d" % (fam, n), "function", code)], a, out)[0]
            mark = {"exact": "=", "wrong": "!", "timeout": "T", "crash": "C"}.get(r["status"], "x")
            cells.append("%.4f%s" % (r["t"] or 0, mark))
            r.update(family=fam, size=n)
            rows.append(r)
            dead = r["status"] in ("timeout", "crash")
        print("%-18s" % fam + "".join("%11s" % c for c in cells), flush=True)
    if a.out:
        with open(a.out, "w") as f:
            for r in rows:
                f.write(json.dumps(r) + "\n")


def main():
    p = argparse.ArgumentParser()
    sub = p.add_subparsers(dest="cmd")
    r = sub.add_parser("run")
    r.add_argument("--adapter", required=True)
    r.add_argument("--corpus", default="stdlib", help="'stdlib' or a directory")
    r.add_argument("--mode", choices=("function", "module"), default="function")
    r.add_argument("--optimize", type=int, choices=(0, 1, 2), default=0, help="1 for -O, 2 for -OO")
    r.add_argument("--kinds", default="function,lambda")
    r.add_argument("--sample", type=int, default=0)
    r.add_argument("--seed", type=int, default=0)
    r.add_argument("--match", default="")
    r.add_argument("--max-instr", type=int, default=0)
    r.add_argument("--out")
    r.add_argument("--reasons", type=int, default=6)
    r.add_argument("--keep-source", action="store_true")
    g = sub.add_parser("growth")
    g.add_argument("--adapter", required=True)
    g.add_argument("--families", default="")
    g.add_argument("--ns", default="10,20,40,80,160,320,640")
    g.add_argument("--out")
    for q in (r, g):
        q.add_argument("--limit", type=float, default=5.0)
        q.add_argument("--mem", type=int, default=6, help="GiB of address space per worker")
        q.add_argument("--recursion", type=int, default=3000)
    s = sub.add_parser("summary")
    s.add_argument("files", nargs="+")
    s.add_argument("--bysize", action="store_true")
    a = p.parse_args()
    if a.cmd == "run":
        cmd_run(a)
    elif a.cmd == "growth":
        cmd_growth(a)
    elif a.cmd == "summary":
        cmd_summary(a)
    else:
        p.print_help()


if __name__ == "__main__":
    main()
