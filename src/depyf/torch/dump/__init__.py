"""Write the files of a dump directory from the model of a run, each whole or not at all."""
