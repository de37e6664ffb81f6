"""From a Recording to a Report without findings: the passes, in the order in which they need each other."""

from __future__ import annotations

from dataclasses import replace

from rlprof.analyse.apart import outside_windows
from rlprof.analyse.bottlenecks import bottlenecks_of
from rlprof.analyse.course import course_of
from rlprof.analyse.device_facts import device_of
from rlprof.analyse.facts import run_entry
from rlprof.analyse.iterations import slowest_iterations
from rlprof.analyse.ledger import NS_PER_SECOND, Account, open_account
from rlprof.analyse.lines import drilldown_of
from rlprof.analyse.memory import memory_of
from rlprof.analyse.operations import operations_of
from rlprof.analyse.own_code import inferred_of
from rlprof.analyse.processes import process_entries
from rlprof.analyse.regimes import regimes_of
from rlprof.analyse.sampling import sampling_of
from rlprof.analyse.startup import Startup
from rlprof.analyse.throughput import iterating_process, throughput_of
from rlprof.analyse.torch_operators import operators_of, windows_of
from rlprof.analyse.warnings import losses_of, warnings_of
from rlprof.analyse.whatif import whatif_of
from rlprof.analyse.workers import workers_of
from rlprof.model.recording import Recording
from rlprof.model.report import SCHEMA, ProcessEntry, Report, SlowestIteration


def build_report(recording: Recording) -> Report:
    """All numbers of a recording. `findings` is empty: advice is given on top of this report."""
    recording = outside_windows(recording)
    course = course_of(recording)
    accounts = (course.account, *(open_account(process) for process in recording.processes[1:]))
    wall_seconds = accounts[0].wall_seconds
    throughput = throughput_of(recording, wall_seconds)
    slices, startup = course.slices, course.startup
    main, *children = process_entries(accounts, throughput.env_steps)
    main = _with_startup(main, startup)
    processes = (main, *children)
    workers = workers_of(recording.processes)
    operations = tuple(operation for account in accounts for operation in operations_of(account))
    return Report(
        schema=SCHEMA,
        run=run_entry(recording, wall_seconds, processes),
        throughput=throughput,
        ledger=main.ledger,
        phases=main.phases,
        sampling=sampling_of(main.phases, wall_seconds),
        operations=operations,
        bottlenecks=bottlenecks_of(operations, {a.process.id: a.wall_seconds for a in accounts}),
        findings=(),
        regimes=regimes_of(recording, course),
        whatif=whatif_of(accounts[0], slices, startup, workers),
        memory=memory_of(recording),
        device=device_of(recording),
        slow_iterations=_slow_iterations(recording, accounts),
        losses=losses_of(recording),
        warnings=warnings_of(recording, accounts),
        recording=recording.source,
        inferred=inferred_of(recording),
        drilldown=drilldown_of(accounts[0], slices, startup),
        workers=workers,
        windows=windows_of(recording),
        operators=operators_of(recording, accounts[0]),
    )


def _with_startup(entry: ProcessEntry, startup: Startup | None) -> ProcessEntry:
    if startup is None:
        return entry
    # Slices hold the cost of single spans, too: a phase has no more time before training than it has.
    phases = tuple(
        replace(phase, setup_seconds=min(startup.in_spans_ns.get(phase.phase, 0.0) / NS_PER_SECOND, phase.seconds))
        for phase in entry.phases
    )
    ledger = replace(
        entry.ledger,
        startup_seconds=startup.nanoseconds / NS_PER_SECOND,
        setup_seconds=sum(phase.setup_seconds or 0.0 for phase in phases),
    )
    return replace(entry, ledger=ledger, phases=phases)


def _slow_iterations(recording: Recording, accounts: tuple[Account, ...]) -> tuple[SlowestIteration, ...]:
    turning = iterating_process(recording)
    account = next((account for account in accounts if account.process is turning), None)
    return slowest_iterations(account, recording.main.start_ns) if account is not None else ()
