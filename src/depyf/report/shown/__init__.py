"""Takes a run; gives each view of it as plain data (`views`) and as text for a terminal (`terminal`)."""
