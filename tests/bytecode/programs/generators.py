# from 3.7: generators, coroutines, asynchronous loops and managers
def counting(n, log):
    try:
        for i in range(n):
            got = yield i
            log.append(got)
            if got == "stop":
                return "stopped"
    except ValueError as error:
        log.append(str(error))
        yield "caught"
    finally:
        log.append("closed")
    return "done"


def delegating(n, log):
    result = yield from counting(n, log)
    log.append(result)
    yield from [7]
    yield from (i for i in (8, 9))
    return (yield)


def driven(generator, sends):
    out = []
    try:
        out.append(next(generator))
        for send in sends:
            if isinstance(send, Exception):
                out.append(generator.throw(send))
            else:
                out.append(generator.send(send))
        generator.close()
    except StopIteration as stop:
        out.append(("stop", stop.value))
    return out


class Ready:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        got = yield "waiting"
        return (self.value, got)


class Manager:
    def __init__(self, log, swallow):
        self.log, self.swallow = log, swallow

    async def __aenter__(self):
        self.log.append(await Ready("enter"))
        return "entered"

    async def __aexit__(self, kind, value, traceback):
        self.log.append((await Ready("exit"), kind and kind.__name__))
        return self.swallow


async def ticking(n):
    for i in range(n):
        await Ready(i)
        yield i
        try:
            yield -i
        except ValueError:
            await Ready("f")


async def managed(log, n):
    async with Manager(log, n == 1) as entered:
        log.append(entered)
        if n:
            raise ValueError(n)
        return "returned"
    return "swallowed"


async def looping(log):
    async for i in ticking(3):
        if i == 1:
            continue
        log.append(i)
        if i == -2:
            break
    else:
        log.append("never")
    async for i in ticking(1):
        log.append(("second", i))
    else:
        log.append("else")
    out = [x async for x in ticking(2) if x < 1]
    out += [y async for x in ticking(2) for y in [await Ready(x)]]
    return out, [z async for z in (w async for w in ticking(1))]


def drive(coroutine):
    sent = 0
    try:
        while True:
            coroutine.send(None if not sent else sent)
            sent += 1
    except StopIteration as stop:
        return stop.value
    except ValueError as error:
        return str(error)


def main():
    out = []
    for sends in ([None, "a", None, None], ["stop"], [ValueError("v"), None], ["x"], [1, 2, 3, None, None, 6, 7]):
        for make in (counting, delegating):
            log = []
            out.append((driven(make(3, log), sends), log))
    for n in range(3):
        log = []
        out.append((drive(managed(log, n)), log))
    log = []
    out.append((drive(looping(log)), log))
    out.append(list(i for i in counting(2, [])))
    return out
