"""Exercises of notebook 16: the parts of today's models, and a real one in them."""
