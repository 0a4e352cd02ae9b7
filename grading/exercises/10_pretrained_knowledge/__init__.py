"""Exercises of notebook 10: what a language model knows, and whether it knows that it knows."""
