"""What a person names on the command line when sets of recordings are compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rlprof.experiments.journal import FILE
from rlprof.model.errors import BadOption
from rlprof.model.recording import Recording
from rlprof.recording import open_recording
from rlprof.recording.place import PARTS_SUFFIX, SUFFIX


def is_set(name: str) -> bool:
    """Whether this is a folder of recordings, and not the parts of one."""
    path = Path(name)
    return path.is_dir() and not path.name.endswith(PARTS_SUFFIX)


def is_experiment(name: str) -> bool:
    return is_set(name) and (Path(name) / FILE).is_file()


def open_set(names: Sequence[str]) -> list[Recording]:
    """Every recording that is named, and all those in a folder that is named."""
    found: list[Recording] = []
    for name in names:
        if not is_set(name):
            found.append(open_recording(name))
            continue
        files = sorted(Path(name).glob(f"*{SUFFIX}"))
        if not files:
            raise BadOption(f"{name} is a folder without recordings (*{SUFFIX})")
        found += [open_recording(file) for file in files]
    return found


def title_of(names: Sequence[str]) -> str:
    """What a side is called."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
