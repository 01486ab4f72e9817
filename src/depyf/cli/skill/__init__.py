"""The skill that teaches coding agents the loop run, show, fix, expect."""
