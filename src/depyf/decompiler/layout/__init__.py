"""Put a proven text on the lines of its original. In: a module's text, and both codes. Out: the text.

Tracebacks, debuggers and coverage of the original then match the text. Blank lines and comments cannot be restored.
"""
