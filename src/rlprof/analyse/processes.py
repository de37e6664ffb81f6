"""Each process of the run with its own ledger."""

from __future__ import annotations

from collections.abc import Iterable

from rlprof.analyse.ledger import Account, ledger_of
from rlprof.analyse.phases import phase_entries
from rlprof.model.report import ProcessEntry


def process_entries(accounts: Iterable[Account], env_steps: float | None) -> tuple[ProcessEntry, ...]:
    """One entry per process, the main one first."""
    return tuple(process_entry(account, env_steps) for account in accounts)


def process_entry(account: Account, env_steps: float | None) -> ProcessEntry:
    process = account.process
    return ProcessEntry(
        id=process.id,
        role=process.role,
        pid=process.pid,
        wall_seconds=account.wall_seconds,
        status=process.status,
        exit_code=process.exit_code,
        thread=account.lane.name if account.lane is not None else None,
        ledger=ledger_of(account),
        phases=phase_entries(account, env_steps),
    )
