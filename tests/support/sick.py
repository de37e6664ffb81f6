"""Training programs that are slow for one known reason, each with a healthy twin.

A folder of tests/sick holds `sick.py`, `healthy.py` and `case.toml`: the rule that is to speak, the libraries that are
needed, whether the case is a slow one, how many cores a control group allows it. A `pyproject.toml` beside them is that
of their project. The lines that are to blame end with `# CAUSE`. Both programs take no arguments they need, train for a
few seconds, and print `steps/s: NUMBER` last, start-up left out.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).resolve().parent.parent / "sick"
CAUSE = "# CAUSE"
SPEED = re.compile(r"^steps/s: ([0-9.e+]+)$", re.MULTILINE)


@dataclass(frozen=True)
class SickCase:
    name: str
    rule: str
    needs: tuple[str, ...]
    slow: bool
    quota: float | None  # cores that a control group allows both programs
    lines: frozenset[int]  # that are to blame; none where the cause is no line of the program

    @property
    def sick(self) -> Path:
        return FOLDER / self.name / "sick.py"

    @property
    def healthy(self) -> Path:
        return FOLDER / self.name / "healthy.py"


def sick_cases() -> list[SickCase]:
    return [_case(folder) for folder in sorted(FOLDER.iterdir()) if (folder / "case.toml").is_file()]


def _case(folder: Path) -> SickCase:
    facts = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    source = (folder / "sick.py").read_text(encoding="utf-8").splitlines()
    return SickCase(
        name=folder.name,
        rule=facts["rule"],
        needs=tuple(facts.get("needs", ())),
        slow=bool(facts.get("slow", False)),
        quota=facts.get("quota"),
        lines=frozenset(number for number, line in enumerate(source, 1) if line.endswith(CAUSE)),
    )


def speed_of(output: str) -> float:
    """What a program says of its own speed."""
    found = SPEED.search(output)
    assert found is not None, output[-500:]
    return float(found[1])
