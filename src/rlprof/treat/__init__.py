"""Changes applied to a program from outside, in its own processes: cures to try, parts to leave out for diagnosis."""
