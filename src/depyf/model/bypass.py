"""Something in the program that compiled code does not serve: calls that ran eager, and hooks without effect."""

from __future__ import annotations

from enum import Enum

from depyf.bytecode.records import dataclass
from depyf.model.codec import INTEGER, TEXT, Record, Row, by_value
from depyf.model.line_row import LINE
from depyf.model.user_line import UserLine


class Way(Enum):
    """How compiled code was bypassed. The value is the word in the index."""

    METHOD = "method"
    """A method of a compiled module runs the original module."""
    STANCE = "stance"
    """The stance of the compiler made a call run eager, or raise."""
    HOOK = "hook"
    """A hook was registered after the compile, or is disabled."""


FORWARD, CALL, PARTS, UNKNOWN = "forward", "call", "parts", "unknown"
"""The parts of a module that a method runs: its `forward`, the module itself, a module in it, or neither."""
CALL_OF_TORCH = "call with torch's forward"
"""A method runs the module itself, whose `forward` is torch's own, as that of a subclass of `Sequential` is."""


DISABLED = "torch.compiler.disable"
"""The reason of a hook that runs eager beside compiled code."""
FORCE_EAGER, EAGER_ON_RECOMPILE, FAIL_ON_RECOMPILE = "force_eager", "eager_on_recompile", "fail_on_recompile"
STANCES = (FORCE_EAGER, EAGER_ON_RECOMPILE, FAIL_ON_RECOMPILE)
"""The stances under which compiled functions do not always run compiled code."""

COMPILATION = "compilation"
SWITCHED_OFF = "it is switched off by `TORCH_COMPILE_DISABLE=1` or `torch._dynamo.config.disable`"
"""Why nothing at all is compiled, under the name of what is missing."""


@dataclass(frozen=True, slots=True)
class Bypass:
    """One thing that was bypassed: its text in the program, the facts about it, and the user's line.

    what: the call, or the hook.
    detail: for a method, what it runs of the module; for a stance, its name; for a hook, its kind.
    about: the function or the module that it is about.
    compile: the compile without the hook.
    reason: why, in torch's words, as far as they are known.
    """

    way: Way
    what: str
    detail: str
    where: UserLine | None
    about: str = ""
    compile: str = ""
    reason: str = ""


BYPASS_ROWS = Record(
    Bypass,
    Row("way", by_value(Way)),
    Row("what", TEXT, about="The call or the hook, as the user writes it."),
    Row(
        "detail",
        TEXT,
        about="The part of its module that a method runs, the name of a stance, or the kind of a hook.",
    ),
    Row("where", LINE),
    Row("about", TEXT, about="The function or the module that it is about."),
    Row("compile", TEXT, about="The compile that does not have the hook."),
    Row("reason", TEXT, about="Why, as far as it is known."),
)
BYPASSED_ROWS = Record(
    lambda bypass, times: (bypass, times),
    Row("times", INTEGER, lambda pair: pair[1], argument="times"),
    inside=BYPASS_ROWS,
    into="bypass",
    within=lambda pair: pair[0],
)
"""A thing that was bypassed, with the number of times."""
