"""How many functions come back with the syntax tree that their authors wrote, and why the others do not."""
