"""Turn torch's reports during an active context into the model of the run and the code that may run instead."""
