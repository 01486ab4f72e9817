"""The program that an interpreter of another version runs. It compiles sources, and never executes them.

Messages in both directions have four bytes of length, then that many bytes. The first message out is the magic number
of the interpreter. Then each message in is a source in UTF-8. Each answer is `+` and the marshalled code, or `-` and
the reason why there is none. The program ends with its input. It supports Python 3.7 and newer.
"""

PROGRAM = r'''
import importlib.util, marshal, sys, warnings
warnings.simplefilter("ignore")
source, sink = sys.stdin.buffer, sys.stdout.buffer
def send(data):
    sink.write(len(data).to_bytes(4, "little") + data)
    sink.flush()
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
except (ImportError, ValueError, OSError):
    pass
send(importlib.util.MAGIC_NUMBER)
while True:
    head = source.read(4)
    if len(head) < 4:
        break
    text = source.read(int.from_bytes(head, "little"))
    try:
        code = compile(text.decode("utf-8", "surrogatepass"), "<depyf>", "exec", 0, True, 0)
        answer = b"+" + marshal.dumps(code)
    except Exception as error:
        answer = b"-" + "{}: {}".format(type(error).__name__, error).encode("utf-8", "backslashreplace")
    send(answer)
'''
