"""Render torch's guards as readable Python with the same verdicts as the C++ guards.

`tree` reads the guards of a cache entry once. `kinds` translates each of them to Python, and `render` makes a function
of them. `explain` names every clause that fails, `agreement` compares with torch, and `full_code` writes a file.
"""
