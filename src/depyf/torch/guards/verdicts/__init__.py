"""Takes guards and values, gives verdicts: which checks refuse, what each expected, and what it got."""
