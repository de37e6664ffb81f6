"""Files of other profilers, read into recordings."""
