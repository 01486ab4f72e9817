"""Link each line of an artefact to the user's lines that it came from, as far as torch records them."""
