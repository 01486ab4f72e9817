"""Sixty programs that are compiled twice with one thing changed: does depyf name that thing as the cause of the miss?"""
