"""A proven text on the lines on which its author wrote it. In: a module's text, and both codes. Out: the text.

A traceback, a debugger and coverage of the original then fit the text. Blank lines and comments cannot come back.
"""
