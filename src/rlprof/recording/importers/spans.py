"""A recording made of what somebody else measured: a tree of named spans per thread, with totals."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rlprof.model.errors import OutputExists
from rlprof.model.histogram import bucket_of
from rlprof.model.kinds import PROBE, ROOT
from rlprof.recording.columns import Columns, pack_histogram
from rlprof.recording.store import Batch, PartStore

#: A tree deeper than this is folded: what is below counts for the last that is kept.
DEEPEST: Final = 60


@dataclass(slots=True)
class Span:
    """A name below another one, with all its calls."""

    name: str
    phase: str | None = None
    kind: int = PROBE
    count: int = 0
    total_ns: int = 0
    self_ns: int = 0
    shortest_ns: int | None = None
    longest_ns: int | None = None
    histogram: dict[int, int] = field(default_factory=dict)
    children: dict[str, Span] = field(default_factory=dict)

    def child(self, name: str, phase: str | None = None, kind: int = PROBE) -> Span:
        found = self.children.get(name)
        if found is None:
            found = self.children[name] = Span(name, phase, kind)
        return found

    def add_call(self, duration_ns: int) -> None:
        """One call that was seen by itself."""
        self.count += 1
        self.total_ns += duration_ns
        self.shortest_ns = duration_ns if self.shortest_ns is None else min(self.shortest_ns, duration_ns)
        self.longest_ns = duration_ns if self.longest_ns is None else max(self.longest_ns, duration_ns)
        bucket = bucket_of(duration_ns)
        self.histogram[bucket] = self.histogram.get(bucket, 0) + 1


@dataclass(slots=True)
class Imported:
    """What a foreign file holds. The first thread is the one the ledger is about; its root's time is the wall clock."""

    source: Path
    wall_ns: int
    threads: list[tuple[str, Span]]
    facts: dict[str, Any] = field(default_factory=dict)
    counters: dict[str, float] = field(default_factory=dict)
    iterations: Columns | None = None
    started: float = 0.0


def root() -> Span:
    """The top of a thread's tree."""
    return Span("", kind=ROOT)


def save(imported: Imported, target: Path) -> None:
    """Write a recording. One that is there already is never overwritten."""
    if target.exists():
        raise OutputExists(f"{target} is there already: remove it, or name another place with --out")
    store = PartStore(None)
    try:
        store.write(_batch(imported))
        store.save_copy(target)
    finally:
        store.close()


def _batch(imported: Imported) -> Batch:
    paths: list[tuple[int, int | None, int, str, str | None, int]] = []
    stats: list[tuple[Any, ...]] = []
    for thread, (_, top) in enumerate(imported.threads):
        _add_tree(top, thread, paths, stats)
    tables = {"iterations": imported.iterations} if imported.iterations is not None else {}
    return Batch(
        _process(imported),
        threads=[(number, name, number == 0) for number, (name, _) in enumerate(imported.threads)],
        paths=paths,
        stats=stats,
        counters=[(i, name, amount, 1) for i, (name, amount) in enumerate(imported.counters.items())],
        tables=tables,
    )


def _add_tree(top: Span, thread: int, paths: list[Any], stats: list[Any]) -> None:
    waiting: list[tuple[Span, int | None, int]] = [(top, None, 0)]
    while waiting:
        span, parent, depth = waiting.pop()
        number = len(paths)
        paths.append((number, parent, thread, span.name, span.phase, span.kind))
        timed = span.shortest_ns is not None
        histogram = pack_histogram(span.histogram) if timed else b""
        stats.append(
            (number, span.count, span.total_ns, max(span.self_ns, 0), span.shortest_ns, span.longest_ns, 0, None, None,
             0, None, histogram, 0)
        )  # fmt: skip
        if depth < DEEPEST:
            waiting += [(child, number, depth + 1) for child in span.children.values()]
        else:
            stats[-1] = (*stats[-1][:3], _whole_self(span), *stats[-1][4:])


def _whole_self(span: Span) -> int:
    """The own time of a span and of all below it."""
    waiting, found = [span], 0
    while waiting:
        each = waiting.pop()
        found += max(each.self_ns, 0)
        waiting += each.children.values()
    return found


def _process(imported: Imported) -> dict[str, Any]:
    return {
        "uid": f"import-{secrets.token_hex(5)}",
        "parent_uid": None,
        "pid": 0,
        "role": "main",
        "argv": ["rlprof", "import", str(imported.source)],
        "started": imported.started,
        "start_ns": 0,
        "end_ns": imported.wall_ns,
        "recorded_ns": imported.wall_ns,
        "status": "completed",
        "exit_code": None,
        "facts": imported.facts,
        "costs": {},
        "losses": {},
        "iteration_thread": 0,  # the first thread is the one that trains
        "wall_drift": 0.0,
    }


def nanoseconds(seconds: Any) -> int:
    """Seconds of a foreign file; what is no number, negative or endless counts as none."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < 1e9:
        return 0
    return round(seconds * 1e9)


def settle_self(top: Span, wall_ns: int) -> None:
    """The root's own time: what of the wall clock none of its children took."""
    top.self_ns = max(wall_ns - sum(child.total_ns for child in top.children.values()), 0)
