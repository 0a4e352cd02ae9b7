"""One module for each notebook: the single definition of its exercises."""
