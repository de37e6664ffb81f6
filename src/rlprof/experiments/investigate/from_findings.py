"""A plan, as text, from the findings of a recording: each finding is a hypothesis, and its bound what is expected."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final

from rlprof.experiments.investigate.arguments import without_python
from rlprof.experiments.investigate.prescriptions import Prescription, prescription_for
from rlprof.model.clean import clean_text
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Place, Report, Severity

_CONFIDENCE: Final[dict[Severity, float]] = {"critical": 0.8, "warning": 0.6, "info": 0.4}
_MASKED: Final = "***"
_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")

_HEAD: Final = """\
# A plan for `rlprof investigate`, from the findings of {source}
# Each hypothesis says what may help, and by how much. `expect` is a finding's bound: at most so many times as fast.
# Where a change is not known it is left empty: fill in one of these, and take out what does not apply.
#   change.arguments = "--option value"           replaces the option in the command, or adds it
#   change.remove = "--option"                     takes it out of the command
#   change.environment = {{ NAME = "value" }}
#   change.treatments = ["threads=1"]              inside the process; rlprof quickwins --list names them
#   change.skip = ["module:Class.method=0"]        leaves a function out, to see its cost; it returns what is behind =
#   change.replace = {{ "module:function" = "module2:function2" }}
"""


def plan_from_findings(recording: Recording, report: Report) -> str:
    """The whole file."""
    hopeful = [finding for finding in report.findings if finding.gain.sps_ratio >= 1.005]
    lines = [_HEAD.format(source=clean_text(report.recording, 200)), "schema = 1", "", *_baseline(recording)]
    names: set[str] = set()
    for finding in hopeful:
        lines += ["", *_hypothesis(recording, finding, names)]
    others = [finding.rule for finding in report.findings if finding not in hopeful]
    if others:
        lines += ["", f"# Findings that promise no speed-up: {clean_text(', '.join(others), 300)}"]
    if not hopeful:
        lines += [
            "",
            "# There is no finding that promises a speed-up: write hypotheses of your own.",
            "# [[hypothesis]]",
        ]
    return "\n".join(lines) + "\n"


def _baseline(recording: Recording) -> Iterator[str]:
    words = without_python(recording.main.argv)
    directory = recording.main.facts.get("directory")
    yield "[baseline]"
    if isinstance(directory, str):
        yield f"# Recorded in {clean_text(directory, 300)}; a plan is run from where you are."
    if any(_MASKED in word for word in words):
        yield f"# Something that looks like a secret was masked ({_MASKED}): put it back, or take it from a variable."
    if not words:
        yield "# Fill in the program: a script or -m MODULE, with its arguments."
    yield f"command = [{', '.join(map(quoted, words))}]"


def _hypothesis(recording: Recording, finding: Finding, names: set[str]) -> Iterator[str]:
    prescription = prescription_for(finding.rule)
    yield "[[hypothesis]]"
    yield f"name = {quoted(_name(finding, names))}"
    yield f"because = {quoted(clean_text(finding.title, 400))}"
    for place in finding.where[:3]:
        yield f"# {clean_text(place.file, 200)}:{place.line}  {clean_text(place.function, 80)}"
    yield f"expect = {max(finding.gain.sps_ratio, 1.01):.2f}"
    yield f"confidence = {_CONFIDENCE[finding.severity]}"
    yield f"effort = {prescription.effort}  # hours, roughly"
    yield f"changes_learning = {'true' if finding.changes_learning else 'false'}"
    yield f"action = {quoted(clean_text(finding.cure, 800))}"
    yield from _change(recording, finding, prescription)


def _change(recording: Recording, finding: Finding, prescription: Prescription) -> Iterator[str]:
    if prescription.environment:
        pairs = ", ".join(f"{name} = {quoted(value)}" for name, value in prescription.environment.items())
        yield f"change.environment = {{ {pairs} }}"
    if prescription.treatments:
        yield f"change.treatments = [{', '.join(map(quoted, prescription.treatments))}]"
    if prescription.fill_in:
        yield f"fill_in = {quoted(prescription.fill_in)}"
        function = function_of(recording, finding.where[0]) if finding.where else None
        yield '# change.arguments = "--option value"'
        if function is not None and prescription.may_skip:
            yield f"# change.skip = [{quoted(f'{function}=null')}]  # null: what its caller can live with, as JSON"


def function_of(recording: Recording, place: Place) -> str | None:
    """`module:function` of a place, by the packages that its file lies in; None where there is no such name."""
    if not _IDENTIFIER.fullmatch(place.function):
        return None
    file = PurePath(place.file)
    parts, folder = [file.stem], Path(place.file).parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        parts.insert(0, folder.name)
        folder = folder.parent
    module = ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)
    words = without_python(recording.main.argv)
    is_main = words[:2] == ["-m", module] or (words[:1] != ["-m"] and words and PurePath(words[0]).name == file.name)
    module = "__main__" if is_main else module
    return f"{module}:{place.function}" if _IDENTIFIER.fullmatch(module) else None


def _name(finding: Finding, names: set[str]) -> str:
    """A rule, and the function it is about where several findings are of one rule."""
    function = finding.where[0].function if finding.where else ""
    said = re.sub(r"[^\w .-]+", " ", clean_text(f"{finding.rule} {function}", 70)).strip()
    name, number = said, 1
    while name.casefold() in names:
        number += 1
        name = f"{said} {number}"
    names.add(name.casefold())
    return name


def quoted(text: str) -> str:
    """A text as TOML writes it."""
    whole = text.encode("utf-8", "backslashreplace").decode("utf-8")  # half a surrogate pair is no character
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")
