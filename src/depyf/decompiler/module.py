"""A decompiled module: its source, and its proof."""

from __future__ import annotations

import marshal
from collections.abc import Set as AbstractSet
from dataclasses import replace

from depyf.bytecode.code import Code
from depyf.bytecode.host import pausing, without_compiler_warnings
from depyf.bytecode.listings import Listings
from depyf.bytecode.reader import read
from depyf.bytecode.records import dataclass
from depyf.bytecode.versions.running import is_running
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.statements import write
from depyf.decompiler.layout.lay import laid_out
from depyf.decompiler.passes.module import module_body
from depyf.decompiler.pipeline.run import NO_CODES, decompile
from depyf.decompiler.pipeline.table import NOTHING, WRITTEN
from depyf.errors import DecompilationError, faults_named
from depyf.verify.bound import take_bound
from depyf.verify.candidate.oracle import NotCompiled, Oracle, shared_oracle
from depyf.verify.compare import verify
from depyf.verify.level import Level, Verdict


@dataclass(frozen=True, slots=True)
class DecompiledModule:
    """The source of a module, and its proof.

    code: the decompiled code.
    verdict: the level of proof for `source` compiled by an interpreter of the bytecode's version, the reason for it,
        and the first difference.
    """

    source: str
    code: Code
    verdict: Verdict

    @property
    def level(self) -> Level:
        """The level of proof."""
        return self.verdict.level

    @property
    def reason(self) -> str:
        """Why the level is not higher."""
        return self.verdict.reason


@pausing
def decompile_module(
    code: Code, *, oracle: Oracle | None = None, without: frozenset[str] = NOTHING, as_written: bool = False
) -> DecompiledModule:
    """Decompile the code of a module, and prove it.

    Args:
        code: the code object of the module.
        oracle: compiles the source if the bytecode belongs to another Python than the running one; by default one that
            this process keeps until it ends. If it finds no interpreter, the level is UNPROVEN, with the reason.
        without: names of optional passes to leave out.
        as_written: lay the source out on the lines of the original, as far as its code knows them.

    Raises:
        DecompilationError: the code cannot be decompiled.
    """
    listings = Listings()
    decompiled_module = _proven(code, oracle, without, listings)
    return _on_its_lines(decompiled_module, oracle, listings) if as_written else decompiled_module


def _proven(code: Code, oracle: Oracle | None, without: frozenset[str], listings: Listings) -> DecompiledModule:
    source = module_source(code, without=without, listings=listings)
    decompiled_module = DecompiledModule(source, code, judge(code, source, oracle=oracle, listings=listings))
    if decompiled_module.level is Level.EXACT or WRITTEN in without:
        return decompiled_module
    source = module_source(code, without=without | {WRITTEN}, listings=listings)
    plain = DecompiledModule(source, code, judge(code, source, oracle=oracle, listings=listings))
    return plain if plain.level > decompiled_module.level else decompiled_module


def _on_its_lines(module: DecompiledModule, oracle: Oracle | None, listings: Listings) -> DecompiledModule:
    """Return a module laid out on its lines with a new proof, or unchanged if the proof would be weaker."""
    try:
        source = laid_out(module.source, module.code, compiled(module.source, module.code, oracle))
    except NotCompiled:
        return module
    laid = DecompiledModule(source, module.code, judge(module.code, source, oracle=oracle, listings=listings))
    return laid if laid.level >= module.level else module


def module_source(code: Code, *, without: frozenset[str] = NOTHING, listings: Listings | None = None) -> str:
    """Return the source of a module's code, without a proof.

    Args:
        code: the code object of the module.
        without: names of optional passes to leave out.
        listings: of code that was read before; those of this code are added.

    Raises:
        DecompilationError: the code cannot be decompiled.
    """
    with faults_named("decompiling", code):
        body, names = decompile(code, without=without, listings=listings)
        return write(module_body(body, names.objects), Grammar.of(code))


def judge(
    code: Code,
    source: str,
    *,
    oracle: Oracle | None = None,
    apart: AbstractSet[int] = NO_CODES,
    listings: Listings | None = None,
) -> Verdict:
    """Compile a module's source for the version of `code`, and prove that the two are equivalent.

    Args:
        code: the code object of the module.
        source: the text.
        oracle: the interpreter of the code's version that compiles the text; by default one that this process keeps.
        apart: identities of code objects without a body in the source; they are taken over unchanged.
        listings: of code that was read before.

    Returns:
        the verdict; UNPROVEN with the reason if the source does not compile or the proof breaks off.
    """
    try:
        candidate = compiled(source, code, oracle)
        if apart:
            candidate = with_others(code, candidate, apart)
        with faults_named("proving", code):
            listings = Listings() if listings is None else listings
            has_names = take_bound(code, candidate, listings)
            verdict = verify(code, candidate, listings=listings)
            if not has_names or verdict.level is not Level.EXACT:
                return verdict
            return Verdict(Level.EQUIVALENT, "the text binds builtins to names of its own")
    except NotCompiled as error:
        return Verdict(Level.UNPROVEN, str(error))
    except DecompilationError as error:
        return Verdict(Level.UNPROVEN, f"the proof broke off: {error}")


def with_others(code: Code, candidate: Code, apart: AbstractSet[int]) -> Code:
    """Return a candidate in which some code objects of a module replace those of the same definitions.

    Args:
        code: the code object of the original module.
        candidate: the compiled text; its definitions are in the same order.
        apart: identities of the code objects in `code` to take over.
    """
    pairs = [(code, candidate)]
    left: dict[int, Code] = {}
    for mine, its in pairs:  # The list grows during the iteration.
        my_codes = [const for const in mine.consts if isinstance(const, Code)]
        for const in its.consts:
            original = next(
                (original for original in my_codes if isinstance(const, Code) and original.name == const.name), None
            )
            if original is not None and isinstance(const, Code):
                my_codes.remove(original)
                if id(original) in apart:
                    left[id(const)] = original
                else:
                    pairs.append((original, const))
    for _, its in reversed(pairs):
        left[id(its)] = replace(its, consts=tuple(left.get(id(const), const) for const in its.consts))
    return left[id(candidate)]


def compiled(source: str, code: Code, oracle: Oracle | None) -> Code:
    """Return a source compiled as a module by an interpreter of the version of `code`.

    Args:
        source: the text of a module.
        code: the original code object, for its version and its origin.
        oracle: the interpreter to ask if the version is not the running one; by default one that this process keeps.

    Raises:
        NotCompiled: no interpreter of the version is there, or the source does not compile.
    """
    if not is_running(code.version):
        return (oracle or shared_oracle()).compile(source, code.version)
    try:
        with without_compiler_warnings():
            live_code = compile(source, "<recompiled>", "exec", dont_inherit=True, optimize=0)
            # Code from a file was marshalled, and unmarshalling fills sets once more.
            return read(live_code if code.origin is not None else marshal.loads(marshal.dumps(live_code)))
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise NotCompiled(f"the source does not compile: {type(error).__name__}: {error}") from error
