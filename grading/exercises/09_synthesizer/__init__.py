"""Exercises of notebook 09: attention whose scores are made without comparing tokens."""
