"""Run the documentation.

python -m scripts.documented [PAGE...]            say where a page shows something else than is printed
python -m scripts.documented --write [PAGE...]    put what is printed into the pages
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from scripts.documented.run import difference, pages, rewritten, run_page


def main() -> None:
    """Check or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("pages", nargs="*", type=Path)
    arguments = parser.parse_args()
    wrong = 0
    for page in arguments.pages or pages():
        began = time.monotonic()
        outputs = run_page(page)
        print(f"{page}: {len(outputs)} outputs, {time.monotonic() - began:.0f} s", flush=True)
        differing = [output for output in outputs if not output.is_right]
        if arguments.write:
            text = page.read_text(encoding="utf-8")
            page.write_text(rewritten(text, outputs), encoding="utf-8")
        else:
            wrong += len(differing)
        for output in differing:
            print(difference(page, output))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
