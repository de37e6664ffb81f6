"""Several runs, side by side, and what they say about each other."""
