"""Passes that only code with control flow needs; they are imported when the first such code is decompiled."""
