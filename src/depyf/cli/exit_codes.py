"""The exit codes of the commands. Each command's docstring says when it uses which."""

from __future__ import annotations

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNPROVEN = 3
EXIT_DIFFERENT = 3
