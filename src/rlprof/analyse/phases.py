"""How much of a process's wall clock each RL phase took."""

from __future__ import annotations

from rlprof.analyse.ledger import NS_PER_SECOND, Account
from rlprof.analyse.tree import is_structure
from rlprof.model.phases import OTHER, PHASES, UNATTRIBUTED, category_of
from rlprof.model.report import PhaseEntry


def phase_entries(account: Account, env_steps: float | None) -> tuple[PhaseEntry, ...]:
    """The phases the lane worked in, in the vocabulary's order; their seconds add up to the attributed time."""
    nanoseconds: dict[str, float] = {}
    calls: dict[str, int] = {}
    for identity in account.lane_paths:
        phase = account.phases[identity]
        if phase == UNATTRIBUTED:
            continue
        nanoseconds[phase] = nanoseconds.get(phase, 0.0) + account.self_ns[identity]
        calls[phase] = calls.get(phase, 0) + (calls_of(account, identity) if enters_phase(account, identity) else 0)
    return tuple(
        PhaseEntry(
            phase=phase,
            category=category_of(phase),
            seconds=nanoseconds[phase] / NS_PER_SECOND,
            share=nanoseconds[phase] / account.wall_ns if account.wall_ns else 0.0,
            calls=calls[phase],
            seconds_per_env_step=nanoseconds[phase] / NS_PER_SECOND / env_steps if env_steps else None,
        )
        for phase in (*PHASES, OTHER)
        if nanoseconds.get(phase, 0.0) > 0 or calls.get(phase, 0) > 0
    )


def calls_of(account: Account, identity: int) -> int:
    """How often a path was entered: spans that ended and spans still open."""
    stats = account.process.stats.get(identity)
    return round((stats.count + len(stats.open_since_ns)) * account.calls[identity]) if stats is not None else 0


def enters_phase(account: Account, identity: int) -> bool:
    """Whether a path's spans begin a stretch of their phase; those inside the same phase only subdivide it."""
    above = account.tree.parent[identity]
    while above is not None and is_structure(account.process.paths[above]):
        above = account.tree.parent[above]
    return above is None or account.phases[above] != account.phases[identity]
