"""What must hold of the intermediate forms after every pass."""
