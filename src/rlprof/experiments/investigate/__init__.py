"""Hypotheses about what would make a program faster, put to the test one after the other."""
