"""What IPython and Jupyter load with `%load_ext depyf`."""
