"""The intermediate forms of a decompilation as text, for readers who want to see how it works."""
