"""`python -m depyf` is the `depyf` command."""

from depyf.cli.entry import main

main()
