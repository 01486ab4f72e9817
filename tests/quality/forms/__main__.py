"""Print the form of a function before and after one pass.

    python -m tests.quality.forms textwrap:shorten exits
    python -m tests.quality.forms textwrap:shorten source
"""

from __future__ import annotations

import argparse
import pkgutil

from tests.quality.forms.around import MADE_ANEW, ROWS, SOURCE, forms, live_code


def main() -> None:
    """Print both forms of each code object, inner ones first."""
    parser = argparse.ArgumentParser(description="Print the form of a function before and after one pass.")
    parser.add_argument("function", help="module:function")
    parser.add_argument("name", metavar="pass", choices=[*ROWS, SOURCE])
    options = parser.parse_args()
    pairs = forms(live_code(pkgutil.resolve_name(options.function)), options.name)
    for before, after in pairs:
        if options.name not in MADE_ANEW and options.name != SOURCE:
            print(f"{before}\n-- {options.name} --\n")
        print(after)
    if not pairs:
        print(f"{options.name} does not run on {options.function}")


if __name__ == "__main__":
    main()
