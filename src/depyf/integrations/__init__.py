"""Callbacks for trainers. Each module imports its framework when it is imported, and nothing imports the modules."""
