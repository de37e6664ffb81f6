"""rlprof: a performance doctor for reinforcement-learning training.

Importing it starts nothing. `rlprof run train.py` records a program; these are the annotations a program may use.
"""

from rlprof._core import count, iteration, profile
from rlprof._version import __version__
from rlprof.profiler import get_profiler, open_report
from rlprof.record.alternate import alternate
from rlprof.record.decorate import profile_function

__all__ = [
    "__version__",
    "alternate",
    "count",
    "get_profiler",
    "iteration",
    "open_report",
    "profile",
    "profile_function",
]
