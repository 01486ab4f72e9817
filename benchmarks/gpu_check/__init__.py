"""Everything that only a GPU can show, as one command of at most eight minutes: `make gpu-check`."""
