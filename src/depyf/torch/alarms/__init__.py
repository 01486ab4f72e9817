"""Watch a running server: report each recompile, and raise an alarm for a compile after the warm-up."""
