"""The target of a click on a finding: its line, on the page of a compile that shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from depyf.findings import Finding, Where
from depyf.links.origins import Origin
from depyf.model.index_reader import Run
from depyf.model.run import Compile, Function
from depyf.model.user_source import short_path
from depyf.views.html.function_data import entry_key


class FindingLinks:
    """The findings of a run and their addresses.

    addresses: the pages of the root functions, by key.
    skipped: the page of skipped frames.
    """

    def __init__(self, run: Run, findings: Sequence[Finding], addresses: Mapping[str, str], skipped: str) -> None:
        self._shown: dict[str, tuple[Function, Compile]] = {}
        for function, compiled in run.session.compiles():
            self._shown.setdefault(str(compiled.id), (function, compiled))
        self._files = {short_path(source): source for source in run.session.sources}
        self._found, self._addresses, self._skipped = findings, addresses, skipped

    def all(self) -> list[tuple[Finding, str]]:
        """Return each finding with its address."""
        return [(finding, self._address(finding)) for finding in self._found]

    def lines(self, root: str) -> Iterator[Origin]:
        """Yield the lines that findings on the page of a root function link to."""
        for finding in self._found:
            shown = self._page(finding)
            if shown is not None and shown[0].root == root and finding.where is not None and finding.where.line:
                yield self._line(finding.where)

    def _page(self, finding: Finding) -> tuple[Function, Compile] | None:
        return next((self._shown[compile_id] for compile_id in finding.compiles if compile_id in self._shown), None)

    def _line(self, where: Where) -> Origin:
        return self._files.get(where.file, where.file), where.line

    def _address(self, finding: Finding) -> str:
        shown = self._page(finding)
        if shown is None:
            return self._skipped
        function, compiled = shown
        page = f"{self._addresses[function.root]}/{entry_key(compiled)}"
        if finding.where is None or not finding.where.line:
            return page
        file, line = self._line(finding.where)
        # After the tab, which stays as it is.
        return f"{page}//@{quote(file, safe='/:')}:{line}"
