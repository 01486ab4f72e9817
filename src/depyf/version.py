"""The version of depyf."""

__version__ = "1.0.0.dev0"
