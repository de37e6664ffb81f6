"""What runs inside the recorded process: it measures, and hands what it measured to the recording."""
