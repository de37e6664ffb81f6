"""Real training programs to try rlprof on, plain user code that also runs by itself: `python -m rlprof.demos.petri`."""
