"""Where recordings lie: names of new ones, and finding the one a person means.

While a run lives, its parts are in a directory `NAME.rlprof.parts`; the merged recording is the file `NAME.rlprof`.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path
from typing import Final

from rlprof.model.errors import OutputExists, RecordingNotFound

SUFFIX: Final = ".rlprof"
PARTS_SUFFIX: Final = ".rlprof.parts"
PART_SUFFIX: Final = ".part"
RUNS_DIRECTORY: Final = "rlprof-runs"
RUN_FILE: Final = "run.json"


def default_target(script: str) -> Path:
    """`rlprof-runs/<script>-<date>-<time>.rlprof` below the current directory."""
    stem = re.sub(r"[^\w.-]+", "-", Path(script).stem).strip("-.") or "run"
    return Path.cwd() / RUNS_DIRECTORY / f"{stem[:80]}-{time.strftime('%Y%m%d-%H%M%S')}{SUFFIX}"


def parts_of(target: Path) -> Path:
    """The directory of parts that belongs to a recording."""
    return target.with_name(target.name.removesuffix(SUFFIX) + PARTS_SUFFIX)


def target_of(parts: Path) -> Path:
    """The recording that a directory of parts becomes."""
    return parts.with_name(parts.name.removesuffix(PARTS_SUFFIX) + SUFFIX)


def named(target: Path) -> Path:
    """The file that a recording of this name is in: names are given with or without their suffix."""
    return target.absolute().with_name(target.name.removesuffix(SUFFIX) + SUFFIX)


def claim(target: Path, *, numbered: bool) -> Path:
    """Reserve a recording's name by making its directory of parts, so that two runs never share one.

    With `numbered`, a taken name gets -2, -3 … behind it; without, it is an error.
    """
    target = named(target)
    stem = target.name.removesuffix(SUFFIX)
    for attempt in range(1, 1000):
        candidate = target if attempt == 1 else target.with_name(f"{stem}-{attempt}{SUFFIX}")
        if not candidate.exists() and _make_parts(candidate):
            return candidate
        if not numbered:
            raise OutputExists(f"{candidate} exists already: choose another --out, or allow it with --overwrite")
    raise OutputExists(f"there are a thousand recordings named like {target}: choose another --out")


def _make_parts(target: Path) -> bool:
    parts = parts_of(target)
    try:
        parts.parent.mkdir(parents=True, exist_ok=True)
        if parts.exists():
            return False
        parts.mkdir(mode=0o700)
    except OSError as error:
        if parts.exists():  # another run was quicker
            return False
        raise OutputExists(f"cannot write to {parts.parent}: {error.strerror or error}") from None
    return True


def find(name: str | os.PathLike[str]) -> Path:
    """The file or directory of parts that a person means by `name`."""
    path = Path(name)
    candidates = [path]
    if path.name.endswith(PARTS_SUFFIX):
        candidates.append(target_of(path))
    elif path.name.endswith(SUFFIX):
        candidates.append(parts_of(path))
    else:
        candidates += [path.with_name(path.name + SUFFIX), path.with_name(path.name + PARTS_SUFFIX)]
    for candidate in candidates:
        if candidate.exists():
            return candidate
    raise RecordingNotFound(f"there is no recording at {path}{_suggestion(path)}")


def _suggestion(path: Path) -> str:
    """The newest recordings nearby, because a name with a date in it is easily mistyped."""
    known: list[Path] = []
    for folder in {path.parent, Path(RUNS_DIRECTORY)}:
        if folder.is_dir():
            known += [*folder.glob(f"*{SUFFIX}"), *folder.glob(f"*{PARTS_SUFFIX}")]
    if not known:
        return "; `rlprof run SCRIPT` makes one"
    return f"; the newest one here is {max(known, key=_changed)}"


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def list_parts(parts: Path) -> tuple[list[Path], int]:
    """The parts that hold something, and how many processes never came to write."""
    sizes: dict[Path, int] = {}
    for part in sorted(parts.glob(f"*{PART_SUFFIX}")):
        with contextlib.suppress(FileNotFoundError):  # merged and removed at this very moment
            sizes[part] = part.stat().st_size
    written = [part for part, size in sizes.items() if size > 0]
    return written, len(sizes) - len(written)


def _beside(target: Path, ending: str) -> Path:
    return target.with_name(target.name.removesuffix(SUFFIX) + ending)


def trace_of(target: Path, number: int) -> Path:
    """The trace of torch.profiler's window of that number, beside a recording."""
    return _beside(target, f".torch-{number}.json.gz")


def profile_of(target: Path, phase: str | None = None) -> Path:
    """The profile that cProfile made, of everything or of one phase."""
    return _beside(target, f".{phase}.prof" if phase else ".prof")


def detailed_of(target: Path, phase: str | None = None) -> Path:
    """The same as text."""
    return _beside(target, f".{phase}.detailed.txt" if phase else ".detailed.txt")
