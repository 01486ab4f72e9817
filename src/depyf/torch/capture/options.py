"""The options of `prepare_debug`."""

from __future__ import annotations

from collections.abc import Callable

from depyf.bytecode.records import dataclass


@dataclass(frozen=True, slots=True)
class DumpOptions:
    """The options of one context; `prepare_debug` describes them.

    packs_listings: pack the bytecode listings with the other files that are seldom opened. For `depyf run`, which
        writes them for its report alone.
    """

    clean_wild_fx_code: bool = True
    log_bytecode: bool = False
    keep_index: bool = False
    only: str = ""
    kernels: bool = True
    install: bool = False
    before_run: Callable[[list[str]], None] | None = None
    keep_trace: bool = False
    stack_after: float = 0.0
    all_files: bool = False
    packs_listings: bool = False

    @property
    def may_pack(self) -> bool:
        """Return whether a large dump may be packed: not if all files were asked for, or if functions run in them."""
        return not (self.all_files or self.install or self.before_run is not None)
