"""From the text sources to the notebooks."""
