# from 3.7: try, with, raise, in loops and functions, with every way out
class Manager:
    def __init__(self, log, name, swallow=False):
        self.log, self.name, self.swallow = log, name, swallow

    def __enter__(self):
        self.log.append("enter " + self.name)
        return self

    def __exit__(self, kind, value, traceback):
        self.log.append("exit {} {}".format(self.name, kind and kind.__name__))
        return self.swallow


def attempt(log, fail):
    try:
        log.append("try")
        if fail:
            raise {1: ValueError, 2: KeyError, 3: OSError, 4: TypeError}[fail]("no")
    except (ValueError, IndexError) as error:
        log.append(("value", str(error)))
    except KeyError:
        log.append("key")
        raise
    except OSError as error:
        log.append("os")
        try:
            raise RuntimeError("from") from error
        except RuntimeError as other:
            log.append(type(other.__cause__).__name__)
    else:
        log.append("else")
    finally:
        log.append("finally")
    return log


def ways_out(log, n):
    for i in range(3):
        try:
            with Manager(log, str(i), swallow=n == 5):
                try:
                    if n == 0:
                        return "return"
                    if n == 1:
                        break
                    if n == 2:
                        continue
                    if n in (3, 5):
                        raise ValueError(n)
                    if n == 6:
                        raise KeyError(n)
                finally:
                    log.append("inner")
                    if n == 7 and i:
                        return "replaced"
            log.append("after with")
        except ValueError:
            log.append("caught")
            if i == 1:
                continue
            if i == 2:
                return "handler"
        finally:
            log.append("outer")
            if n == 8:
                break
    else:
        log.append("loop ended")
    return "end"


def in_handlers(n):
    out = []
    for i in range(4):
        try:
            if i == n:
                raise ZeroDivisionError("zero")
        except ZeroDivisionError as error:
            out.append(str(error))
            try:
                if i == 1:
                    break
                if i == 2:
                    continue
                raise
            except ZeroDivisionError:
                out.append("again")
                with Manager(out, "h"):
                    continue
            finally:
                out.append("f")
        out.append(i)
    return out


def two_managers(log, fail):
    with Manager(log, "a", True), Manager(log, "b") as b:
        log.append(b.name)
        if fail:
            raise ValueError
        return "returned"
    return "swallowed"


def nested_return(n):
    for x in (1, 2):
        for y in [3, 4]:
            try:
                try:
                    if n:
                        return [x, y]
                finally:
                    x += 10
            finally:
                y += 10
    return x, y


def unbound():
    try:
        raise KeyError("k")
    except KeyError as error:
        kept = error
    try:
        error
    except UnboundLocalError:
        return type(kept).__name__


def after(call, *args):
    try:
        return call(*args)
    except Exception as error:
        return type(error).__name__, str(error)


def main():
    out = []
    for fail in range(5):
        log = []
        out.append((after(attempt, log, fail), log))
    for n in range(9):
        log = []
        out.append((after(ways_out, log, n), log))
    for n in range(5):
        out.append(after(in_handlers, n))
    for fail in (False, True):
        log = []
        out.append((two_managers(log, fail), log))
    out += [nested_return(0), nested_return(1), unbound()]
    return out
