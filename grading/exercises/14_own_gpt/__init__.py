"""Exercises of notebook 14: a language model of one's own, from bytes to text."""
