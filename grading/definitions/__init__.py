"""What an exercise is, where the definitions are, and how questions are made of them."""
