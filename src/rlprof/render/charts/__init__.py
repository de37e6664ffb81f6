"""Charts for papers and pull requests, drawn with matplotlib: legible in black and white and at a column's width."""
