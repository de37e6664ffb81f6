"""Instrumentation that needs no change to the program."""
