"""Takes torch's records of its caches; gives why each miss was none of the entries that were there."""
