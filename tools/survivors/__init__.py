"""Mutants that are no other program: classes of them, each decided by a rule and shown here to change nothing.

`explain` asks the rules one after the other; what each says, and why it is right, stands at the head of its file.
What nobody can observe is what decision 0008 says.
"""
