"""The files that tell of a whole run, written when the context ends."""

from __future__ import annotations

from depyf.report.index_json import index_json
from depyf.report.index_markdown import index_markdown
from depyf.report.model import Session
from depyf.torch.dump import Dump
from depyf.torch.problems import Problems

INDEX = "index.json"


def write_views(session: Session, dump: Dump, problems: Problems) -> None:
    """Write the index, each view on its own: one that fails leaves the others whole."""
    with problems.contained(f"writing {INDEX}"):
        dump.write(INDEX, index_json(session))
    with problems.contained("writing index.md"):
        dump.write("index.md", index_markdown(session))
