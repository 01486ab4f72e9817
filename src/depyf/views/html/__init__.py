"""The report: static pages about a run that open from disk, in any browser, without a network."""
