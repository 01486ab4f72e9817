"""The magic `%%depyf`: run a cell, capture everything that torch compiles in it, and show the report below.

Only this module imports IPython, and only IPython imports this module, when it loads the extension.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from depyf.links.profile.text import most_expensive
from depyf.model import user_source

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from depyf.model.run import Session
    from depyf.torch.profile.context import Profiling


@magics_class
class DepyfMagics(Magics):
    """The magics of depyf."""

    @magic_arguments()
    @argument("-o", "--output", default="depyf_output", metavar="DIR", help="Directory of the dump.")
    @argument("--backend", default="", metavar="NAME", help="Use this backend for every torch.compile in the cell.")
    @argument("--only", default="", metavar="PATTERN", help="Capture only functions whose name or file matches.")
    @argument("--log-bytecode", action="store_true", help="Also write bytecode listings.")
    @argument("--no-dump-kernels", action="store_true", help="Leave out Inductor's modules.")
    @argument("--no-html", action="store_true", help="Show only the summary, as text.")
    @argument("--reset", action="store_true", help="First discard earlier compiles: torch._dynamo.reset().")
    @argument("--profile", action="store_true", help="Measure what each line costs and print the most expensive lines.")
    @cell_magic
    def depyf(self, line: str, cell: str) -> object:
        """Run the cell, capture what torch compiles in it, and show the report.

        torch serves code that earlier cells compiled from its cache, so depyf cannot see it: compile it in this cell,
        or use --reset.
        """
        __tracebackhide__ = True  # noqa: F841 - IPython looks for it: the user's frames alone are shown
        options = parse_argstring(self.depyf, line)
        with _captured(options):
            return run_cell(self.shell, cell)


def run_cell(shell: InteractiveShell, cell: str) -> object:
    """Run a cell in the user's namespace, and return the value of its last expression, if it ends with one.

    Raises:
        Exception: what the cell raises.
    """
    __tracebackhide__ = True  # noqa: F841 - as above
    source = shell.transform_cell(cell)
    # IPython keeps the lines of the cell under this name. Tracebacks, Dynamo and depyf read them there.
    name = shell.compile.cache(source, shell.execution_count, raw_code=cell)
    body = shell.compile.ast_parse(source, name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) and not shown_nowhere(cell) else None
    exec(shell.compile(ast.Module(body, []), name, "exec"), shell.user_ns)
    if last is None:
        return None
    value: object = eval(shell.compile(ast.Expression(last.value), name, "eval"), shell.user_ns)
    return value


def shown_nowhere(cell: str) -> bool:
    """Return whether the cell ends with a semicolon, which tells IPython to show no value.

    >>> shown_nowhere("f(x);"), shown_nowhere("f(x)")
    (True, False)
    """
    return cell.rstrip().endswith(";")


@contextmanager
def _captured(options: argparse.Namespace) -> Iterator[Session]:
    """Capture in the context with these options, and show the result, even if the cell fails."""
    import torch._dynamo

    from depyf.torch.adapters.forced_backend import forced_backend
    from depyf.torch.adapters.provenance import kernels_tell
    from depyf.torch.capture.prepare import prepare_debug
    from depyf.torch.profile.context import Profiling

    if options.reset:
        torch._dynamo.reset()
    with ExitStack() as settings:
        profiling = Profiling() if options.profile else None
        settings.callback(lambda: _show(session, profiling, as_text=options.no_html))
        settings.enter_context(kernels_tell())
        settings.enter_context(forced_backend(options.backend))
        session = settings.enter_context(
            prepare_debug(
                options.output,
                log_bytecode=options.log_bytecode,
                only=options.only,
                kernels=not options.no_dump_kernels,
            )
        )
        if profiling is not None:
            profiling.begin()
            settings.callback(profiling.end)
        yield session


def _show(session: Session, profiling: Profiling | None, *, as_text: bool) -> None:
    if profiling is not None:
        print("\n".join(most_expensive(profiling.write(Path(session.directory)))))
    display({"text/plain": repr(session)}, raw=True) if as_text else display(session)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the magics to a running IPython, and name cells as IPython does, `In[3]`."""
    shell.register_magics(DepyfMagics)

    def cell_name(code_name: str) -> str | None:
        formatted = shell.compile.format_code_name(code_name)
        return formatted[1] if formatted is not None else None

    user_source.NAMING[:] = [cell_name]
