"""What several instructions of one version mean together, folded into one operation."""
