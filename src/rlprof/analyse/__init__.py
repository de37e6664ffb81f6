"""From a Recording to numbers: pure functions, one question per module."""
