"""torch's structured trace, from a running process or from files, joined into the model of a run. No torch needed."""
