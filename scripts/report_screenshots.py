"""Takes the pictures of the report that the documentation shows.

    python -m scripts.report_screenshots DUMP RANKS [--out docs/images] [--browser /usr/bin/chromium]

DUMP is that of `depyf run examples/training_step.py`, and RANKS that of
`depyf run -m torch.distributed.run --standalone --nproc-per-node 2 examples/two_ranks.py`, both with their reports.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PICTURES = (
    ("report-overview", "overview", "light"),
    ("report-function", "p0f0/c0/after_post_grad/S1.24", "light"),
    ("report-kernel", "p0f0/c0/kernel/S1.24", "dark"),
    ("report-recompiles", "recompiles", "light"),
    ("report-breaks", "breaks", "light"),
    ("report-diff", "diff/p0f0/c0/guards/p0f0/c2/guards", "light"),
)
WIDTH, HEIGHT = 1400, 820


def _picture(launched: Browser, page_file: Path, address: str, scheme: str, out: Path) -> None:
    page = launched.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
    page.goto(f"{page_file.as_uri()}#{address}")
    page.wait_for_timeout(500)
    page.screenshot(path=str(out))
    page.close()


def _search(launched: Browser, page_file: Path, out: Path) -> None:
    page = launched.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
    page.goto(f"{page_file.as_uri()}#p0f0/c0/captured_graph")
    page.wait_for_timeout(300)
    page.keyboard.press("/")
    page.keyboard.type("layer_norm")
    page.wait_for_function("() => document.getElementById('search').dataset.done === 'layer_norm'")
    page.screenshot(path=str(out))
    page.close()


def main() -> None:
    """Take them all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("dump", type=Path)
    parser.add_argument("ranks", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--browser", default=shutil.which("chromium"))
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    arguments.out.mkdir(parents=True, exist_ok=True)
    page_file, of_ranks = ((dump / "report" / "index.html").resolve() for dump in (arguments.dump, arguments.ranks))
    with sync_playwright() as started:
        launched = started.chromium.launch(executable_path=arguments.browser, args=["--no-sandbox"])
        for name, address, scheme in PICTURES:
            _picture(launched, page_file, address, scheme, arguments.out / f"{name}.png")
        _picture(launched, of_ranks, "ranks", "light", arguments.out / "report-ranks.png")
        _search(launched, page_file, arguments.out / "report-search.png")
        launched.close()


if __name__ == "__main__":
    main()
