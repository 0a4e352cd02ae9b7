"""What comes in from a class, and what goes out to it."""
