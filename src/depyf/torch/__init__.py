"""The parts of depyf that use torch. No other package imports torch."""
