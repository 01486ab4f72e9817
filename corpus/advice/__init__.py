"""Advice as an experiment: each kind has a program that shows it, and the same with its advice followed."""
