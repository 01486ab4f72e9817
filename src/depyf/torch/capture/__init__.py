"""Takes what torch tells of its compiles; gives the model of the run, with the files of a dump or without any."""
