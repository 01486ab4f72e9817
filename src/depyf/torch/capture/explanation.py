"""A display of a compiled function for a notebook's cell, or as text for a terminal."""

from __future__ import annotations

from depyf.model.index_reader import Run, read_run
from depyf.model.writer import INDEX
from depyf.torch.adapters.seams import cache_entries
from depyf.torch.capture.cached_run import cached_run
from depyf.torch.dump.told import function_told
from depyf.torch.replica.replica import Replica
from depyf.views.embedded import bundle, only

CACHE_ALONE = (
    "This is what torch's cache has. Graphs and kernels are here too for a function that was compiled inside of "
    "`prepare_debug`, or in a cell with `%%depyf`."
)


class Explanation:
    """The explanation of a compiled function: its source, with the guards and the code of each entry.

    In a notebook it displays the page of the function in the report, with graphs and kernels if a context of this
    process captured all its entries. In a terminal it displays the text of the full code.
    """

    def __init__(self, compiled: object) -> None:
        """Read a compiled function, method or module from torch's cache.

        Raises:
            TypeError: it is no function, method or module.
            ValueError: it has not been compiled.
        """
        self._replica = Replica(compiled)

    def __str__(self) -> str:
        return self._replica.text

    __repr__ = __str__

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return the content as text and as HTML; a front end chooses."""
        run = self._captured()
        if run is not None:
            return bundle(str(self), run, f"files in {run.directory}")
        return bundle(str(self), cached_run(self._replica.functions), CACHE_ALONE)

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")

    def _captured(self) -> Run | None:
        """Return the run of a dump with all entries of the function, or None."""
        root = self._replica.functions[0]
        place = function_told(root.code, [entry.code for entry in cache_entries(root.code)])
        if place is None or not (place[0] / INDEX).is_file():
            return None
        run = read_run(place[0])
        roots = run.session.roots()
        return only(run, roots[place[1]]) if place[1] < len(roots) else None
