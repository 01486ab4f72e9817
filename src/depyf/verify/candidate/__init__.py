"""Takes text, gives the code that is compared: compiled, named and laid out as the original is."""
