"""The `[tool.rlprof]` table of the user's pyproject.toml."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from rlprof.model.errors import BadOption
from rlprof.model.expectations import Expectation, read_row
from rlprof.model.toml_reader import toml_reader
from rlprof.record.targets import Target, parse_name, parse_span

_FILE: Final = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """What a project says about its own code, as text that has been checked."""

    spans: tuple[str, ...] = ()
    not_env: tuple[str, ...] = ()
    not_buffer: tuple[str, ...] = ()
    not_advantage: tuple[str, ...] = ()
    not_evaluation: tuple[str, ...] = ()
    not_teacher: tuple[str, ...] = ()
    expectations: tuple[Expectation, ...] = ()


def find_settings(directory: Path, warn: Callable[[str], None]) -> ProjectSettings:
    """The settings of the nearest pyproject.toml, from `directory` upwards, that has a table for rlprof."""
    for folder in (directory, *directory.parents):
        file = folder / _FILE
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if "tool" in text and "rlprof" in text:
            table = _table(file, text, warn)
            if table is not None:
                return _settings(file, table)
    return ProjectSettings()


def _table(file: Path, text: str, warn: Callable[[str], None]) -> Any:
    toml = toml_reader()
    if toml is None:
        warn(f"{file} is not read: on Python 3.10 that takes the package tomli")
        return None
    try:
        tool = toml.loads(text).get("tool")
    except toml.TOMLDecodeError as error:
        raise BadOption(f"{file} is no valid TOML: {error}") from None
    return tool.get("rlprof") if isinstance(tool, dict) else None


def _settings(file: Path, table: Any) -> ProjectSettings:
    known = [field.name for field in fields(ProjectSettings)]
    if not isinstance(table, dict):
        raise BadOption(f"{file}: tool.rlprof is no table")
    for name in table:
        if name not in known:
            raise BadOption(f"{file}: [tool.rlprof] knows no {name!r}; it knows {', '.join(known)}")
    expected = _expected(file, table.get("expectations", []))
    names = {name: _names(file, name, value) for name, value in table.items() if name != "expectations"}
    return ProjectSettings(**names, expectations=expected)


def _names(file: Path, name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadOption(f"{file}: {name} in [tool.rlprof] is a list of texts")
    parse: Callable[[str], Target] = parse_span if name == "spans" else parse_name
    for item in value:
        _check(parse, item, file)
    return tuple(value)


def _expected(file: Path, value: Any) -> tuple[Expectation, ...]:
    """Rows of their own in the table, or the name of a file beside it that has them."""
    if isinstance(value, str):
        return read_expectations(file.parent / value)
    if not isinstance(value, list):
        raise BadOption(f"{file}: expectations in [tool.rlprof] is a list of rows, or the name of a file with them")
    return _rows(file, value)


def read_expectations(file: Path) -> tuple[Expectation, ...]:
    """The rows of a file: `[[expectations]]`, each with low, and with hardware, algorithm, phase, high, source."""
    toml = toml_reader()
    if toml is None:
        raise BadOption(f"{file} cannot be read: on Python 3.10 that takes the package tomli")
    try:
        rows = toml.loads(file.read_text(encoding="utf-8")).get("expectations")
    except OSError as error:
        raise BadOption(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadOption(f"{file} is no text") from None
    except toml.TOMLDecodeError as error:
        raise BadOption(f"{file} is no valid TOML: {error}") from None
    if not isinstance(rows, list):
        raise BadOption(f"{file} has no rows: write [[expectations]], and below it low = 1500")
    return _rows(file, rows)


def _rows(file: Path, rows: list[Any]) -> tuple[Expectation, ...]:
    try:
        return tuple(read_row(row) for row in rows)
    except BadOption as error:
        raise BadOption(f"{file}: {error}") from None


def _check(parse: Callable[[str], Target], item: str, file: Path) -> None:
    try:
        parse(item)
    except BadOption as error:
        raise BadOption(f"{file}: {error}") from None
