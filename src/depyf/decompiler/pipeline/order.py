"""The order constraints of the pipeline, with their reasons."""

from __future__ import annotations

from depyf.decompiler.pipeline.work import Before

ORDER: tuple[Before, ...] = (
    Before("generator-calls", "inlined-comprehensions", "both ways hold the comprehensions in the argument"),
    Before("promote-variables", "containers", "a list kept in a variable can be followed once the variable is a value"),
    Before("containers", "results", "the results of a graph lie in lists until those are evaluated"),
    Before("containers", "dead-values", "what only a vanished list held is used by nobody"),
    Before("dead-values", "reload", "what nobody uses must not be loaded again"),
    Before("reload", "free-names", "a load that is put back names its variable"),
    Before("inlined-comprehensions", "regions", "the handler that gives saved variables back is no `try`"),
    Before("except-star", "regions", "the regions inside `except*` are bookkeeping, and none of them is a `try`"),
    Before("ends", "exits", "`return None` is everywhere, and no copy"),
    Before("exits", "regions", "the ways out of a region must be known to be one"),
    Before("ends", "regions", "copies of `finally` are told apart by where they lead"),
    Before("regions", "cut", "bookkeeping pops markers too"),
    Before("cut", "thread", "a block that leaves a loop must be a block of its own before edges pass it"),
    Before("thread", "copies", "copies are compared once edges lead to where they end"),
    Before("copies", "short-circuits", "an arm with a value waiting cannot be told from a statement"),
    Before("scopes", "cases", "tests are joined within one scope"),
    Before("short-circuits", "uses", "counting is part of it, and only needed on its own where it is left out"),
    Before("uses", "build", "an expression used once is put where it is used"),
    Before("short-circuits", "build", "an arm of an expression would be built as an `if`"),
    Before("build", "hoist", "cases must have become tests that are nested in each other"),
    Before("hoist", "labels", "labels vanish"),
    Before("labels", "matches", "a case ends where control falls out of it"),
    Before("asserts", "tidy", "an `else` moved out of an `if` no longer looks like that of an assertion"),
    Before("tidy", "opposites", "what goes first may be what a test guards against, by the opposite of the test"),
    Before("opposites", "as-written", "it takes statements as they are written where nothing says how they were"),
    Before("tries", "heads", "the clauses of a handler hold loops and managers of their own"),
    Before("heads", "complete", "heads are what most leftover nodes turn into"),
    Before("complete", "expressions", "another way to structure is tried before expressions are put together"),
    Before("expressions", "at-once", "which value is used where is known once expressions are put together"),
    Before("deferred-annotations", "definitions", "the function that evaluates annotations is no definition"),
    Before("annotations", "annotation-setup", "an annotation sets `__annotations__` up by being there"),
    Before("annotations", "definitions", "an annotation may hold a lambda"),
    Before("class-temps", "definitions", "the temporaries of functions inside are their own"),
    Before("definitions", "declarations", "what is declared depends on what inner code reads"),
    Before("declarations", "super", "what is declared of `super` is one declaration more"),
    Before("leftovers", "imports", "each import knows one variable that it binds"),
    Before("declarations", "leftovers", "made-up names must not be declared"),
)
"""The order constraints."""
