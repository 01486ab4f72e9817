"""Take a dump, and give a debugger lines to stop at: running code is mapped to the files of the dump."""
