"""The parts of the check, one module each, with a function `run(setting, told)`."""
