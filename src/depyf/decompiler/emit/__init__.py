"""Write statements as text."""
