"""Takes a dump, gives a debugger lines to stop at: code that runs is mapped to the files of the dump."""
