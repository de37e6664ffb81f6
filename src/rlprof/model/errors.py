"""One tree of errors. Each carries the exit code the command line ends with and reads as one line."""

from __future__ import annotations


class RlprofError(Exception):
    """Something a person can act on: the message says what is wrong and how to put it right."""

    exit_code = 2


class RecordingNotFound(RlprofError):
    """There is no recording where one was looked for."""


class NotARecording(RlprofError):
    """The file is something else, or damaged beyond reading."""


class NewerRecording(RlprofError):
    """The file was written by a newer rlprof than this one."""


class EmptyRecording(RlprofError):
    """The recording holds no process."""


class OutputExists(RlprofError):
    """The output is there already and was not asked to be replaced."""


class BadOption(RlprofError):
    """An option's value does not read as what it should be."""
