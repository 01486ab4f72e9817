"""Torch's guards as readable Python with the verdict that the C++ guards give.

`tree` reads the guards of a cache entry once, `kinds` say each of them in Python, `render` makes a function of them,
`explain` names every clause that fails, `agreement` compares with torch, and `full_code` puts them in a file.
"""
