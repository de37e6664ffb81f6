"""The file a run leaves behind: its layout, writing it, merging it, reading it back."""

from rlprof.recording.reader import open_recording

__all__ = ["open_recording"]
