"""The order constraints of the pipeline, with their reasons."""

from __future__ import annotations

from depyf.decompiler.pipeline.work import Before

ORDER: tuple[Before, ...] = (
    Before("generator-calls", "inlined-comprehensions", "both paths contain the comprehensions in the argument"),
    Before("promote-variables", "containers", "a list can be followed only after its variable is a value"),
    Before("containers", "results", "the results of a graph are in lists until these are evaluated"),
    Before("containers", "dead-values", "the items of a removed list are unused"),
    Before("dead-values", "reload", "unused values must not be loaded again"),
    Before("reload", "free-names", "a reloaded value names its variable"),
    Before("inlined-comprehensions", "regions", "the handler that restores saved variables is no `try`"),
    Before("except-star", "regions", "the regions inside `except*` are bookkeeping, not `try` statements"),
    Before("ends", "exits", "`return None` occurs everywhere without being a copy"),
    Before("exits", "regions", "copies of a region's exit must be joined"),
    Before("ends", "regions", "copies of `finally` are distinguished by their targets"),
    Before("regions", "cut", "bookkeeping also pops markers"),
    Before("cut", "thread", "a block that leaves a loop must be separate before edges skip it"),
    Before("thread", "copies", "copies are compared by the final targets of their edges"),
    Before("copies", "short-circuits", "an arm with a value on the stack looks like a statement"),
    Before("scopes", "cases", "tests are joined within one scope"),
    Before("short-circuits", "uses", "it counts uses itself; the other pass replaces it when it is left out"),
    Before("uses", "build", "an expression with one use is written there"),
    Before("short-circuits", "build", "an arm of an expression would be built as an `if`"),
    Before("build", "hoist", "cases must be nested tests"),
    Before("hoist", "labels", "it needs the labels"),
    Before("labels", "matches", "a case ends where it falls through"),
    Before("asserts", "tidy", "an assertion is recognised by its `else`, which the other pass removes"),
    Before("tidy", "opposites", "an exit may come first with the opposite test"),
    Before("opposites", "as-written", "it starts from the statements that are written without evidence"),
    Before("tries", "heads", "the clauses of a handler contain loops and managers"),
    Before("heads", "complete", "heads replace most of the pipeline's own nodes"),
    Before("complete", "expressions", "if it fails, another structure is tried before expressions are finished"),
    Before("expressions", "at-once", "the uses of values are known only in finished expressions"),
    Before("deferred-annotations", "definitions", "the function that evaluates annotations is not a definition"),
    Before("annotations", "annotation-setup", "an annotation itself sets up `__annotations__`"),
    Before("annotations", "definitions", "an annotation may contain a lambda"),
    Before("class-temps", "definitions", "nested functions have their own temporaries"),
    Before("definitions", "declarations", "declarations depend on the reads of nested code"),
    Before("declarations", "super", "it adds to the declarations"),
    Before("leftovers", "imports", "before, each import binds only one variable"),
    Before("declarations", "leftovers", "invented names must not be declared"),
)
"""The order constraints."""
