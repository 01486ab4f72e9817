"""`python -m depyf` runs the `depyf` command."""

from depyf.cli.entry import main

main()
