"""What goes wrong: every exception, with its frames; failed compiles, interrupts, exits."""

from __future__ import annotations

import builtins
import os
import signal
import sys
import traceback

import torch


def _raised(function, *args, backend="eager", **options):
    """Return the exception of a call as the program can read it."""
    try:
        return torch.compile(function, backend=backend, **options)(*args)
    except BaseException as error:
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        return [type(error).__name__, str(error), "".join(lines)]


def user_exception():
    def f(x):
        y = x + 1
        raise ValueError("on purpose")
        return y

    return _raised(f, torch.ones(2))


def user_exception_behind_a_break():
    def f(x):
        y = x + 1
        torch._dynamo.graph_break()
        raise KeyError(y.shape[0])

    return _raised(f, torch.ones(2))


def user_exception_that_goes_out():
    def f(x):
        torch._dynamo.graph_break()
        raise RuntimeError("seen outside")

    return torch.compile(f, backend="eager")(torch.ones(2))


def exception_in_a_called_function():
    def deeper(x):
        torch._dynamo.graph_break()
        return x.nothing_of_the_kind

    return _raised(lambda x: deeper(x) + 1, torch.ones(2))


def exception_that_is_caught():
    def f(x):
        try:
            raise ValueError("inside")
        except ValueError as error:
            return x + len(str(error))

    return _raised(f, torch.ones(2))


def chained_exceptions():
    def f(x):
        torch._dynamo.graph_break()
        try:
            raise ValueError("first")
        except ValueError as error:
            raise TypeError("second") from error

    return _raised(f, torch.ones(2))


def exception_groups():
    group = getattr(builtins, "ExceptionGroup", None)
    if group is None:
        return "this Python has none"

    def f(x):
        torch._dynamo.graph_break()
        raise group("several", [ValueError("one"), TypeError("two")])

    return _raised(f, torch.ones(2))


def shapes_that_do_not_fit():
    return _raised(lambda a, b: a @ b, torch.ones(2, 3), torch.ones(2, 3))


def shapes_that_do_not_fit_in_aot():
    return _raised(lambda a, b: a @ b, torch.ones(2, 3), torch.ones(2, 3), backend="aot_eager")


def break_with_fullgraph():
    return _raised(lambda x: (torch._dynamo.graph_break(), x)[1], torch.ones(2), fullgraph=True)


def backend_that_fails():
    def backend(module, inputs):
        raise RuntimeError("no backend today")

    return _raised(lambda x: x + 1, torch.ones(2), backend=backend)


def backend_that_fails_once():
    tries: list[int] = []

    def backend(module, inputs):
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("not the first time")
        return module.forward

    def f(x):
        return x + 1

    return [_raised(f, torch.ones(2), backend=backend)[0], _raised(f, torch.ones(2), backend=backend)]


def suppressed_errors():
    def backend(module, inputs):
        raise RuntimeError("no backend today")

    with torch._dynamo.config.patch(suppress_errors=True):
        return _raised(lambda x: x + 1, torch.ones(2), backend=backend)


def unknown_backend():
    return _raised(lambda x: x, torch.ones(2), backend="no_such_backend")


def attribute_that_was_deleted():
    holder = torch.ones(2)
    holder.extra = torch.ones(2)

    def f(x):
        return x + holder.extra

    first = _raised(f, torch.ones(2))
    del holder.extra
    return [first, _raised(f, torch.ones(2))]


def keyboard_interrupt_in_the_backend():
    def backend(module, inputs):
        raise KeyboardInterrupt

    return _raised(lambda x: x + 1, torch.ones(2), backend=backend)


def keyboard_interrupt_by_a_signal():
    def f(x):
        y = x + 1
        torch._dynamo.graph_break()
        os.kill(os.getpid(), signal.SIGINT)
        return y

    return _raised(f, torch.ones(2))


def system_exit_from_compiled_code():
    def f(x):
        torch._dynamo.graph_break()
        sys.exit(3)

    return torch.compile(f, backend="eager")(torch.ones(2))


def exit_at_once():
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    os._exit(7)


def recursion_that_does_not_end():
    def f(x):
        return f(x + 1)

    return _raised(f, torch.ones(2))[0]


def warning_that_is_an_error():
    import warnings

    def f(x):
        torch._dynamo.graph_break()
        warnings.warn("no further", UserWarning, stacklevel=1)
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return _raised(f, torch.ones(2))


def assertion_in_compiled_code():
    def f(x):
        assert x.sum() < 0, "it is not"
        return x

    return _raised(f, torch.ones(2))


def backward_that_fails():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("no gradient today")

    x = torch.ones(2, requires_grad=True)
    return _raised(lambda x: Fails.apply(x).sum().backward(), x)


def unsupported_operation_in_fullgraph():
    return _raised(lambda x: x + len(open(os.devnull).read()), torch.ones(2), fullgraph=True)  # noqa: SIM115 - Dynamo's


def meta_kernel_that_is_missing():
    return _raised(lambda x: torch.ops.aten.no_such_operator(x), torch.ones(2))


def generator_that_is_left_open():
    def f(x):
        torch._dynamo.graph_break()
        yield x

    return next(iter(_raised(f, torch.ones(2))))
