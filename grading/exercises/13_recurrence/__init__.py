"""Exercises of notebook 13: what recurrence gives and costs, beside attention."""
