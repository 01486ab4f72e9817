"""Takes what torch reports while a context is active, gives the model of the run and the code that may run instead."""
