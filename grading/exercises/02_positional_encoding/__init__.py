"""Exercises of notebook 02: order blindness, sinusoids, learned positions, ALiBi, rotary positions."""
