"""Fold several instructions of one version into the one operation that they mean."""
