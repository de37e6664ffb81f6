"""What was measured and what is said about it: frozen types, phases, units."""
