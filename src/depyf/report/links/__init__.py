"""Which lines of the user each line of an artefact came from, as far as torch says so."""
