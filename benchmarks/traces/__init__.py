"""Tools about traces: parity with tlparse, jobs with injected differences, damaged files, many ranks."""
