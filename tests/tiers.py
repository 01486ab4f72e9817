"""Which tests `make test` leaves to `make test-all`: a rule for folders and files, with the reason of each.

The first tier is what a person runs before each commit. The second holds tests that start programs one by one, compile
kernels with a C++ compiler, or measure; what they find is mostly found by the first tier in one process. A test marked
`slow` belongs to the second tier wherever it lies. `tests/quality/tiers.py` prints what the first tier catches.
"""

from __future__ import annotations

SECOND: dict[str, str] = {
    "tests/benchmarks/": "runs the commands that measure",
    "tests/cli/test_action.py": "runs a program on two commits for each test",
    "tests/cli/test_mcp.py": "starts a server, which starts programs",
    "tests/coverage/": "compiles each sample program with every interpreter",
    "tests/docs/test_documented.py": "runs every block of the documentation",
    "tests/docs/test_site.py": "builds the site",
    "tests/fuzz/": "runs random programs under every interpreter",
    "tests/integrations/": "trains models with the trainers of other packages",
    "tests/launch/": "starts each program twice, once under `depyf run`",
    "tests/notebook/": "starts kernels of notebooks",
    "tests/views/html/": "opens the pages in a browser",
    "tests/torch/debuggers/": "starts debuggers",
    "tests/torch/kernels/": "compiles kernels with Inductor",
    "tests/torch/numerics/": "compiles kernels with Inductor",
    "tests/torch/profile/": "profiles models in processes of their own",
    "tests/torch/ranks/": "starts processes that talk to each other",
    "tests/torch/test_bars.py": "runs the bars of models",
    "tests/test_distribution.py": "builds and installs the package",
    "tests/test_readme.py": "runs the example of the README",
    "tests/yard/": "tests commands of the yard, not the package",
}


def is_second(path: str) -> bool:
    """Return whether the tests of a file are left to `make test-all`.

    Args:
        path: the file, relative to the root, with `/`.
    """
    return path.startswith(tuple(SECOND))
