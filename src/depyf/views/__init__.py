"""The views of a run: Markdown, pages, terminal, SARIF. They take the model and the findings, and compute neither."""
