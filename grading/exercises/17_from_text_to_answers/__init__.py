"""Exercises of notebook 17: asking a language model, instruction tuning, preferences."""
