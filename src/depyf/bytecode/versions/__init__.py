"""The differences between Python versions: generated tables and small deltas. Only this package knows versions."""
