"""Programs whose compiled code has every shape that Dynamo writes. Each module is loaded anew for each run."""
