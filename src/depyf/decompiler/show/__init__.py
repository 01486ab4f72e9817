"""The intermediate forms of a decompilation as text, for those who want to see how it is done."""
