"""What differs between Pythons: generated tables and small deltas. The only place that knows a version."""
