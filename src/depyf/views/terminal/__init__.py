"""The views of a run: as plain data (`views`) and as text for a terminal (`terminal`)."""
