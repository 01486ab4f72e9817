"""Packages that clients of earlier releases import as `depyf.explain` and `depyf.optimization`."""
