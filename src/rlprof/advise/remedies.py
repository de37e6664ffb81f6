"""What could be done about a line of the user's, by what it was seen to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rlprof.analyse.inner_loops import InnerLoops
from rlprof.analyse.ledger import open_account
from rlprof.analyse.noted_lines import NotedLines
from rlprof.analyse.stacks import files_below
from rlprof.model.recording import Recording
from rlprof.model.report import LineEntry

#: Libraries whose work on arrays is done for a line that is Python itself.
ARRAYS: Final = re.compile(r"[\\/](numpy|torch)[\\/]")

_COPY: Final = "hand out what the caller may keep without copying it, or copy only what changes (`array.copy()`)"


@dataclass(frozen=True, slots=True)
class _Known:
    """Library files whose functions cost much more than their alternative does."""

    files: re.Pattern[str]
    remedy: str


_KNOWN: Final = (
    _Known(re.compile(r"[\\/]copy\.py$"), f"it copies object by object: {_COPY}; a copy may be needed for correctness"),
    _Known(re.compile(r"[\\/]dataclasses\.py$"), f"it builds dataclasses anew: {_COPY}; keep the state in arrays"),
    _Known(
        re.compile(r"[\\/]pandas[\\/]"),
        "it asks pandas for single values: take `frame.to_numpy()` once, index arrays",
    ),
    _Known(
        re.compile(r"[\\/](json|pickle)(\.py$|[\\/])"),
        "it writes and reads text or bytes: keep the objects themselves",
    ),
    _Known(
        re.compile(r"[\\/](inspect|traceback|linecache|tokenize)\.py$"), "it looks into code at run time: do so once"
    ),
    _Known(re.compile(r"[\\/]re(\.py$|[\\/])"), "it matches text in each step: parse once and keep numbers"),
    _Known(
        re.compile(r"[\\/](fractions|decimal|_pydecimal|statistics)\.py$"),
        "it calculates in Python: floats or NumPy",
    ),
)
#: What a loop of Python over elements can be replaced by.
LOOP: Final = (
    "it runs element by element in Python: replace the loop by NumPy on whole arrays, keep what does not change "
    "between steps (`functools.lru_cache`, a table filled in reset), use `collections.deque.popleft()` for "
    "`list.pop(0)`, or compile the function (`numba.njit`)"
)


#: Side work between the steps. In a step it may be what the agent sees.
_BESIDE: Final = (
    _Known(
        re.compile(r"[\\/](matplotlib|PIL|plotly|seaborn)[\\/]"),
        "it draws a chart each time: keep the numbers, and draw them at the end or once in a few thousand steps",
    ),
    _Known(
        re.compile(r"[\\/](threading|queue|selectors)\.py$|[\\/]multiprocessing[\\/]"),
        "it waits for other threads or processes: see what these do, make them wait for each other seldom, and put "
        "arrays and weights into shared memory instead of sending them",
    ),
    _Known(
        re.compile(r"[\\/]numpy[\\/]_core[\\/]arrayprint\.py$|[\\/]torch[\\/]_tensor_str\.py$"),
        "it turns arrays into text: format numbers only where they are printed, and seldom; write arrays as bytes",
    ),
    _Known(
        re.compile(r"[\\/]copy\.py$"),
        "it copies object by object: copy only what changes, into what is kept (`array[:] = other`; "
        "`slow.lerp_(fast, 0.005)` for each parameter of a network that follows another); a copy may be needed for "
        "correctness",
    ),
    _Known(
        re.compile(r"[\\/]torch[\\/](storage|serialization)\.py$"),
        "it turns tensors into bytes: do so less often, and save only what is needed to go on",
    ),
)
#: What libraries have of a line that is Python itself.
MOST_OF_PLAIN: Final = 0.2


def known_remedy(line: LineEntry) -> str | None:
    """Of a line that surely spends most of its time in a library whose work has a known alternative."""
    for known in _KNOWN:
        if 2 * sum(call.seconds for call in line.calling if known.files.search(call.file)) > line.seconds:
            return known.remedy
    return None


def remedy_of(recording: Recording, line: LineEntry, *, in_loop: bool, alone: bool) -> str | None:
    """Of a line beside the steps, in a loop of its own or a function; `alone` where it is one of the training loop."""
    found = _among((*_BESIDE, *_KNOWN), files_below(open_account(recording.main), line.file, line.line))
    if found is not None or alone or not is_plain(line) or _works_on_arrays(recording, line):
        return found
    return LOOP if in_loop or InnerLoops(recording).goes_round(line.file, line.line) else None


def _works_on_arrays(recording: Recording, line: LineEntry) -> bool:
    """Whether the loop around a line calls array libraries: what runs in C is on no stack, however large arrays are."""
    calls, loop = NotedLines(recording, "array_calls"), InnerLoops(recording).innermost(line.file, line.line)
    if loop is None:
        return calls.has(line.file, line.line)
    return calls.any_within(line.file, loop.first, loop.last)


def is_plain(line: LineEntry) -> bool:
    """Whether a line runs in no library."""
    return sum(call.seconds for call in line.calling) < MOST_OF_PLAIN * line.seconds


def _among(known: tuple[_Known, ...], below: Sequence[tuple[frozenset[str], int]]) -> str | None:
    """The first that most stacks go through: work may be spread over many functions of a library."""
    total = sum(count for _, count in below)
    for each in known:
        if 2 * sum(count for files, count in below if any(map(each.files.search, files))) > total:
            return each.remedy
    return None
