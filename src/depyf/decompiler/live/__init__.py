"""Live functions: what they hold beside their code."""
