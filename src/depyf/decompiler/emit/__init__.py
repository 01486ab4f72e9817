"""Statements to text."""
