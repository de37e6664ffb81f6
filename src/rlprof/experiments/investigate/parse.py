"""From the text of a plan to a Plan. Strict: what is not understood is refused, with the place where it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rlprof.experiments.investigate.arguments import changed_words, without_python
from rlprof.experiments.investigate.plan import (
    PLAN_SCHEMA,
    RUNS,
    WARM_UP_RUNS,
    BadPlan,
    Change,
    Hypothesis,
    Plan,
    Settings,
    Words,
)
from rlprof.experiments.investigate.table import Table
from rlprof.model.clean import clean_text
from rlprof.model.toml_reader import toml_reader

LARGEST_PLAN: Final = 1_000_000
MOST_HYPOTHESES: Final = 200
_NAME: Final = re.compile(r"[^\s/\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]{0,79}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DOTTED: Final = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_FUNCTION: Final = re.compile(rf"{_DOTTED}:{_DOTTED}")
_SKIPPED: Final = re.compile(rf"{_DOTTED}:{_DOTTED}(?:=.*)?")


def read_plan(file: Path) -> Plan:
    """The plan in a file."""
    try:
        if file.stat().st_size > LARGEST_PLAN:
            raise BadPlan(f"{file} is larger than a plan can be ({LARGEST_PLAN:,} bytes)")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise BadPlan(f"cannot read the plan {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadPlan(f"{file} is no plan: it is not UTF-8 text") from None
    return parse_plan(text, str(file))


def parse_plan(text: str, name: str) -> Plan:
    """The plan that a text holds. `name` is what messages call it."""
    toml = toml_reader()
    if toml is None:
        raise BadPlan(f"{name} is not read: on Python 3.10 plans need tomli: pip install 'rlprof[plans]'")
    try:
        data = toml.loads(text)
    except (toml.TOMLDecodeError, RecursionError) as error:
        raise BadPlan(f"{name} is no valid TOML: {error}") from None
    top = Table(name, data, ("schema", "baseline", "settings", "combination", "hypothesis"))
    if top.whole("schema", 1, PLAN_SCHEMA) != PLAN_SCHEMA:
        raise top.wrong(f"this rlprof reads plans of schema {PLAN_SCHEMA}")
    baseline = top.table("baseline", ("command", "environment"))
    command = tuple(without_python(baseline.words("command")))
    if not command:
        raise baseline.wrong('command is missing: a script or -m MODULE, with its arguments, as in "train.py --envs 8"')
    plan = Plan(command, _variables(baseline), _hypotheses(data, name, text), _settings(top))
    for hypothesis in plan.hypotheses:
        _check_removals(plan, hypothesis, name)
    return plan


def _check_removals(plan: Plan, hypothesis: Hypothesis, name: str) -> None:
    """What a change takes out of the command must be in it."""
    try:
        changed_words(plan.command, hypothesis.change.arguments, hypothesis.change.remove)
    except BadPlan as error:
        raise BadPlan(f"{name}: hypothesis {hypothesis.name}: {error}") from None


def _settings(top: Table) -> Settings:
    table = top.table("settings", ("runs", "warm_up_runs", "timeout", "margin", "seed"))
    combined = top.table("combination", ("expect", "arguments"))
    return Settings(
        runs=table.whole("runs", 1, RUNS),
        warm_up_runs=table.whole("warm_up_runs", 0, WARM_UP_RUNS),
        timeout=table.number("timeout", lambda s: 0.1 <= s < 1e9, "of seconds") if table.has("timeout") else None,
        margin=table.number("margin", lambda share: 0 <= share < 1, "from 0 to 1, as in 0.03", 0.03),
        seed=table.whole("seed", 0, 0) if table.has("seed") else None,
        expect_combined=_expected(combined) if combined.has("expect") else None,
        arguments_combined=combined.words("arguments"),
    )


def _expected(table: Table) -> float:
    return table.number("expect", lambda ratio: 1 < ratio <= 1000, "above 1: how many times as fast")


_KEYS: Final = (
    "name", "because", "expect", "confidence", "effort", "changes_learning", "diagnosis", "action", "change", "fill_in",
)  # fmt: skip


def _hypotheses(data: Mapping[str, Any], name: str, text: str) -> tuple[Hypothesis, ...]:
    entries = data.get("hypothesis", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadPlan(f"{name}: hypotheses are written as [[hypothesis]], each with its keys below it")
    if not entries:
        raise BadPlan(f"{name} has no [[hypothesis]]: there is nothing to test")
    if len(entries) > MOST_HYPOTHESES:
        raise BadPlan(f"{name} has {len(entries)} hypotheses, more than anybody can test ({MOST_HYPOTHESES})")
    found = tuple(
        _hypothesis(Table(_place(name, text, at, entry), entry, _KEYS)) for at, entry in enumerate(entries, start=1)
    )
    names = [hypothesis.name.casefold() for hypothesis in found]
    twice = next((one.name for one in found if names.count(one.name.casefold()) > 1), None)
    if twice is not None:
        raise BadPlan(f"{name}: two hypotheses are called {twice!r}: give each a name of its own")
    return found


def _place(name: str, text: str, number: int, entry: Mapping[str, Any]) -> str:
    """Where a hypothesis stands, with its line where it is written in the usual way."""
    lines = [at for at, line in enumerate(text.splitlines(), start=1) if re.match(r"\s*\[\[\s*hypothesis\s*\]\]", line)]
    line = f":{lines[number - 1]}" if number <= len(lines) else ""
    called = entry.get("name")
    return f"{name}{line}: hypothesis {number}" + (f" ({clean_text(called, 40)})" if isinstance(called, str) else "")


def _hypothesis(table: Table) -> Hypothesis:
    name = table.text("name")
    if not _NAME.fullmatch(name):
        raise table.wrong(f"name is a text of 1 to 80 characters without / and \\, not {clean_text(repr(name), 60)}")
    return Hypothesis(
        name=name,
        expect=_expected(table),
        confidence=table.number("confidence", lambda share: 0 < share <= 1, "above 0, at most 1"),
        effort=table.number("effort", lambda amount: 0 < amount <= 1e6, "above 0: hours of work, or another unit"),
        changes_learning=table.flag("changes_learning"),
        change=_change(table.table("change", ("arguments", "remove", "environment", "skip", "replace", "treatments"))),
        words=Words(
            because=table.text("because", ""),
            action=table.text("action", ""),
            diagnosis=table.flag("diagnosis", False),
            fill_in=table.text("fill_in", ""),
        ),
    )


def _change(table: Table) -> Change:
    skipped = table.listed("skip")
    for text in skipped:
        if not _SKIPPED.fullmatch(text):
            raise table.wrong(f"skip names no function: {clean_text(text, 60)!r}; write module:Class.method[=returns]")
    replaced = table.texts("replace")
    for names in replaced.items():
        if not all(_FUNCTION.fullmatch(text) for text in names):
            said = clean_text(" = ".join(names), 80)
            raise table.wrong(f'replace names no function: {said}; write {{ "module:function" = "module2:function2" }}')
    return Change(
        arguments=table.words("arguments"),
        remove=table.words("remove"),
        environment=_variables(table),
        treatments=(
            *(f"skip:{text}" for text in skipped),
            *(f"replace:{one}={other}" for one, other in replaced.items()),
            *table.listed("treatments"),
        ),
    )


def _variables(table: Table) -> dict[str, str]:
    found = table.texts("environment")
    for name, value in found.items():
        if not _VARIABLE.fullmatch(name) or name.startswith("RLPROF_") or "\0" in value:
            raise table.wrong(f"environment: {clean_text(name, 60)!r} cannot be set; RLPROF_… is rlprof's own")
    return found
