"""Takes the model of a run, gives the files of a dump directory, whole or not at all."""
