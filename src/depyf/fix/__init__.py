"""`depyf fix`: edits of the user's program that remove findings, each tried on this very program."""
