"""One self-contained page with a column for each stage. A click marks the same place in all of them.

Marked are all rows from an instruction of the clicked row. If a row has no known instruction, the rows for the same
line of the user's source are marked. All text is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from depyf.decompiler.show.rows import Row
from depyf.decompiler.show.stages import Origins, Staged

TITLES = ("bytecode", "graph", "tree", "source")

STYLE = """
:root { color-scheme: light dark; --line: #8884; --same: #ffd54f88; --near: #ffd54f33; }
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: flex; flex-direction: column; font: 13px/1.45 system-ui, sans-serif; }
header { padding: .5em 1em; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.1em; margin: 0; }
main { flex: 1; min-height: 0; display: grid; grid-template-columns: 1.1fr 1.1fr 1fr 1fr; }
section { overflow: auto; border-right: 1px solid var(--line); }
h2 { position: sticky; top: 0; margin: 0; padding: .3em .6em; font-size: 1em; background: Canvas;
     border-bottom: 1px solid var(--line); }
h3 { margin: .8em .6em .2em; font-size: .9em; opacity: .7; font-weight: normal; }
.row { font-family: ui-monospace, monospace; font-size: 12px; white-space: pre; padding: 0 .6em; cursor: pointer;
       min-height: 1.45em; width: max-content; min-width: 100%; }
.row:not(.same):hover { background: var(--line); }
.near { background: var(--near); }
.same { background: var(--same); }
"""

SCRIPT = """
const rows = [...document.querySelectorAll('.row')];
const words = (row, name) => (row.dataset[name] || '').split(' ').filter(Boolean);
const known = rows.map(row => ({row, at: words(row, 'at'), line: words(row, 'line')}));
const meets = (one, set) => one.some(word => set.has(word));
document.querySelector('main').addEventListener('click', event => {
  const clicked = event.target.closest('.row');
  if (!clicked) return;
  const at = new Set(words(clicked, 'at')), line = new Set(words(clicked, 'line'));
  const first = new Map();
  for (const {row, at: its, line: user} of known) {
    const same = row === clicked || meets(its, at), near = !same && meets(user, line);
    row.classList.toggle('same', same);
    row.classList.toggle('near', near);
    const column = row.closest('section'), best = first.get(column);
    if ((same && !best?.same) || (near && !best)) first.set(column, {row, same});
  }
  first.delete(clicked.closest('section'));
  for (const {row} of first.values()) row.scrollIntoView({block: 'center'});
});
"""


def page(title: str, notes: Sequence[str], codes: Sequence[Staged], source: str, where: Origins) -> str:
    """Return the page as HTML.

    Args:
        title: the heading, not yet escaped.
        notes: lines about the whole.
        codes: the code objects, in order.
        source: the text of the last column.
        where: the origins of each source line, by the positions of `codes`.
    """
    columns = [
        "".join(block(number, str(staged.code), staged.bytecode()) for number, staged in enumerate(codes)),
        "".join(block(number, str(staged.code), staged.graph) for number, staged in enumerate(codes)),
        "".join(block(number, str(staged.code), staged.tree) for number, staged in enumerate(codes)),
        "".join(line(text, where.get(number, [])) for number, text in enumerate(source.splitlines(), 1)),
    ]
    body = "".join(
        f'<section aria-label="{name}"><h2>{name}</h2>{column}</section>\n'
        for name, column in zip(TITLES, columns, strict=True)
    )
    said = "".join(f"<div>{html.escape(note)}</div>" for note in notes)
    shown = html.escape(title)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{shown}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<header><h1>{shown}</h1>{said}</header>\n"
        f"<main>\n{body}</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def block(number: int, title: str, rows: Sequence[Row]) -> str:
    """Return the rows of one code object as HTML.

    Args:
        number: the position of the code object in the page.
        title: its qualified name, not yet escaped.
        rows: the rows, each with the instructions that it comes from.
    """
    return f"<h3>{html.escape(title)}</h3>\n" + "".join(line(row.text, [(number, row)]) for row in rows)


def line(text: str, came_from: Sequence[tuple[int, Row]]) -> str:
    """Return a row: its text, the instructions it came from, and the lines of the user's source."""
    at = " ".join(f"{number}:{offset}" for number, row in came_from for offset in row.offsets)
    lines = " ".join(f"{number}:{user}" for number, row in came_from for user in row.lines)
    data = (f' data-at="{at}"' if at else "") + (f' data-line="{lines}"' if lines else "")
    return f'<div class="row"{data}>{html.escape(text)}</div>\n'
