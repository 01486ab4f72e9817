"""Graphs of blocks: order, dominators, loops."""
