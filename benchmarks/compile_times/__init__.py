"""Does `--compile-times` name where compile time went, and at which cost?"""
