"""What is in a notebook's file: cells, answers, essays, verdicts."""
