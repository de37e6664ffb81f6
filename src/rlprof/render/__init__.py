"""From a Report to something a person or a program reads. Draws, never computes."""
