"""The version of depyf, in its one place."""

__version__ = "1.0.0.dev0"
