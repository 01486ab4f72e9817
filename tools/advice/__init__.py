"""Advice as an experiment: each kind of the catalogue has a program that shows it, and the same with its advice followed."""
