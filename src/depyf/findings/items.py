"""Items of one container that changed in different calls, each of which needs entries."""

from __future__ import annotations

from dataclasses import replace

from depyf.findings.causes import Cause
from depyf.findings.changed_objects import ITEM_AT_END
from depyf.findings.reasons import Reason
from depyf.model.guard_failure import Check

_DEPENDS = "depend on "
MOST_NAMED = 2
"""The most other items that a sentence names."""


def with_other_items(cause: Cause, reason: Reason) -> Reason:
    """Return a reason with the other items of the same container that one line checks; its fix names the container.

        encode(["a cat", "sat"]), encode(["a cat", "ran"]), encode(["a dog", "ran"])

    Args:
        cause: the cause, with the items of the same line below it.
        reason: the reason for its main item, `texts[1]`.
    """
    subject = reason.failure.subject
    is_length = reason.failure.check is Check.LENGTH
    holder = subject if is_length else ITEM_AT_END.sub("", subject)
    if holder == subject and not is_length:
        return reason
    parts = (part.failures[0].subject for part in cause.below if part.function is cause.function)
    others = [name for name in dict.fromkeys(parts) if name != subject and ITEM_AT_END.sub("", name) == holder]
    if not others:
        return reason
    names = ", ".join(f"`{name}`" for name in others[:MOST_NAMED])
    more = f" and {len(others) - MOST_NAMED} more items" if len(others) > MOST_NAMED else ""
    fix = reason.fix.replace(f"{_DEPENDS}`{subject}`", f"{_DEPENDS}`{holder}`")
    return replace(reason, sentence=f"{reason.sentence}, and {names}{more} changed in other calls", fix=fix)
