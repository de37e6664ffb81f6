"""Findings as the page shows them: the claim, where, the bound, the cure, how to verify it, and the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlprof.model.report import Finding, Place
from rlprof.model.units import format_ratio
from rlprof.render.page.excerpts import Excerpts
from rlprof.render.paths import Paths
from rlprof.render.why import is_nested, shown, words_of

Payload = dict[str, Any]


def findings(found: tuple[Finding, ...], excerpts: Excerpts, paths: Paths) -> list[Payload]:
    """In the order of the report."""
    return [
        {
            "rule": finding.rule,
            "severity": finding.severity,
            "title": paths.in_words(finding.title),
            "where": [_place(place, excerpts, paths) for place in finding.where],
            "gain": f"at most {format_ratio(finding.gain.high)}",
            "cure": paths.in_words(finding.cure),
            "learning": "changed by the cure" if finding.changes_learning else "not changed by the cure",
            "verify": finding.verify,
            "evidence": [_named(table, paths) for table in evidence(finding.evidence)],
        }
        for finding in found
    ]


def _place(place: Place, excerpts: Excerpts, paths: Paths) -> Payload:
    return {
        "place": f"{paths.shown(place.file)}:{place.line}",
        "function": place.function,
        "excerpt": excerpts.number(place.file, place.line),
    }


def _named(table: Payload, paths: Paths) -> Payload:
    return {**table, "rows": [[paths.in_words(cell) for cell in row] for row in table["rows"]]}


def evidence(values: Mapping[str, Any], title: str = "") -> list[Payload]:
    """Tables, one below the other: what is one value first, then each table under its own name."""
    single = [[words_of(name), shown(name, value)] for name, value in values.items() if not is_nested(value)]
    tables: list[Payload] = [{"title": title, "head": [], "rows": single}] if single else []
    for name, value in values.items():
        if isinstance(value, Mapping):
            tables += evidence(value, words_of(name))
        elif is_nested(value):
            names = list(dict.fromkeys(key for row in value for key in row))
            rows = [[shown(key, row.get(key)) for key in names] for row in value]
            tables.append({"title": words_of(name), "head": [words_of(key) for key in names], "rows": rows})
    return tables
