"""Run one of CPython's test modules, and write what became of each test: `python runner.py MODULE OUT`.

Started by the interpreter whose tests they are, as a script.
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
import unittest
import warnings


class Recorder(unittest.TestResult):
    """Keeps an outcome a test: passed, failed or skipped; and for what failed the traceback."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: dict[str, str] = {}
        self.details: dict[str, str] = {}

    def _failed(self, test: unittest.TestCase, error: object) -> None:
        self.outcomes[test.id()] = "failed"
        # The end says what happened; a traceback may be as long as the recursion that it tells of.
        self.details[test.id()] = "".join(traceback.format_exception(*error))[-4000:]  # type: ignore[misc]

    def addSuccess(self, test: unittest.TestCase) -> None:
        """Note that a test passed."""
        self.outcomes.setdefault(test.id(), "passed")

    def addError(self, test: unittest.TestCase, err: object) -> None:
        """Note that a test raised."""
        self._failed(test, err)

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        """Note that a test failed."""
        self._failed(test, err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        """Note that a test was skipped."""
        self.outcomes.setdefault(test.id(), "skipped")

    def addExpectedFailure(self, test: unittest.TestCase, err: object) -> None:
        """Note that a test failed as its author expects."""
        self.outcomes[test.id()] = "passed"

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        """Note that a test passed that its author expects to fail."""
        self.outcomes[test.id()] = "failed"

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: object) -> None:
        """Note that a part of a test failed: then all of it did."""
        if err is not None:
            self._failed(test, err)


def main(module: str, out: str) -> None:
    """Run the tests of one module."""
    warnings.simplefilter("ignore")
    # Nothing that needs a network, a screen or gigabytes.
    support = importlib.import_module("test.support")
    support.__dict__["use_resources"] = ["cpu", "subprocess", "walltime"]
    recorder = Recorder()
    suite = unittest.defaultTestLoader.loadTestsFromName(f"test.{module}")
    suite.run(recorder)
    files = {name: getattr(imported, "__file__", None) for name, imported in sys.modules.items()}
    with open(out, "w", encoding="utf-8", errors="replace") as file:
        json.dump({"outcomes": recorder.outcomes, "details": recorder.details, "files": files}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
