"""`rlprof run` on five training programs that know nothing of it: are the phases right, and what does it cost?

Phases. Each program runs with timers placed by hand, and unmodified under `rlprof run`, in turns. Compared are the
shares of the training time, from the start of the first rollout to the end of the last update. One more run is timed by
both at once: there the same seconds are compared, and only what each of them counts where can differ.

Cost. Steps per second of the training, start-up left out. Whole processes are too noisy to see two percent, so rlprof
is judged by copies of one process, two bare and one recorded, that are forked from it and train in turns of a quarter
of a second: the recorded one is recorded all the time, as a user's is. Recording that is switched on and off inside
one process says more precisely what the larger part of it costs. Beside it whole processes are compared, for the sake
of the other profilers, which cannot be put on and off: each round runs every profiler once, and divides by the bare
run of that round.
"""

from __future__ import annotations

import json
import sys

from attribution import REST, UNATTRIBUTED, Comparison, compare, largest
from commands import checked
from corrected_time import noise
from forked import measure_copies
from measure import Result, Table, argument_parser, finish, new_result, run_script, say
from profilers import BARE, PROFILERS, Speeds, measure_speeds
from zero_code_programs import COPIES, FOLDER, PROGRAMS, Program, differs_from_its_copy

from rlprof.experiments.pairs import ratios, spread
from rlprof.model.phases import PHASES

POINTS, MOST_UNATTRIBUTED, LEAST_SPEED = 2.0, 5.0, 0.98
PARTS = ("phases", "copies", "blocks", "profilers")


# ---------------------------------------------------------------------------------------------- phases


def phases_table(found: dict[str, Comparison]) -> Table:
    names = [phase for phase in PHASES if any(phase in each.seen or phase in each.by_hand for each in found.values())]
    rows = [(name, *(cell(each, name) for each in found.values())) for name in (*names, REST, UNATTRIBUTED)]
    title = "Percent of the training time: rlprof / by hand"
    return Table(title, ("phase", *found), rows)


def cell(comparison: Comparison, name: str) -> str:
    seen = comparison.seen.get(name, 0.0)
    if name == UNATTRIBUTED:
        return f"{seen:.1f}"
    by_hand = comparison.by_hand.get(name, 0.0)
    mark = " !" if name != REST and abs(seen - by_hand) > POINTS else ""
    return f"{seen:.1f} / {by_hand:.1f}{mark}" if seen or by_hand else "-"


def largest_table(found: dict[str, Comparison]) -> Table:
    rows = [
        (
            name,
            points_of(largest(each.apart())),
            ", ".join(f"{phase} {points:+.1f}" for phase, points in each.apart().items() if abs(points) > POINTS)
            or "none",
            points_of(largest(each.apart_in_one_run())),
            f"{max(each.by_hand_apart().values()):.1f}",
        )
        for name, each in found.items()
    ]
    columns = (
        "program",
        "largest",
        f"all beyond {POINTS:g}",
        "largest, both timing one run",
        "runs by hand, among themselves",
    )
    return Table("Where rlprof and the timers differ, in points", columns, rows)


def points_of(difference: tuple[str, float]) -> str:
    return f"{difference[1]:+.1f} ({difference[0]})"


def check_phases(result: Result, name: str, comparison: Comparison) -> None:
    difference = largest(comparison.apart())
    holds = abs(difference[1]) <= POINTS
    what = f"{name}: phases, away from timers placed by hand"
    result.check_true(what, f"within {POINTS:g} points", points_of(difference), holds)
    unattributed = comparison.seen.get(UNATTRIBUTED, 0.0)
    result.check_at_most(f"{name}: training time unattributed", unattributed, MOST_UNATTRIBUTED, "%")


def fill_phases(result: Result, programs: list[Program], rounds: int, shorter: int) -> None:
    for module in COPIES:
        if differs_from_its_copy(module):
            result.notes.append(f"{module}_hand_timed.py differs from {module}.py by more than its timers.")
    found = {each.name: compare(each, rounds, each.steps // shorter) for each in programs}
    for name, comparison in found.items():
        check_phases(result, name, comparison)
    result.tables += [phases_table(found), largest_table(found)]
    result.notes.append(
        f"`{REST}` is what the timers leave out; for rlprof, time unattributed and time in spans that have no phase,"
        " such as the rest of a rollout."
    )
    result.notes.append(
        "The bar is judged on medians of separate runs. Where runs by hand differ among themselves by as much, as on a"
        " busy machine, the run that both time at once says more; but in it the timers count rlprof's own cost, too."
    )
    result.data["phases"] = {name: vars(each) for name, each in found.items()}


# ---------------------------------------------------------------------------------------------- copies


def fill_copies(result: Result, programs: list[Program], processes: int, rounds: int) -> None:
    rows, data = [], {}
    for program in programs:
        copies = measure_copies(program, processes, rounds)
        recorded = spread(copies.recorded)
        result.check_at_least(f"{program.name}: steps/s, recorded of bare", recorded, LEAST_SPEED, "x")
        step = f"{1e6 * spread(copies.seconds).median:.1f} us"
        rows.append((program.name, step, recorded.text(3, "x"), spread(copies.again).text(3, "x")))
        data[program.name] = vars(copies)
    title = f"Copies of one process in turns: {processes} processes, {rounds} rounds in each"
    columns = ("program", "a bare step", "steps/s, recorded of bare", "bare of bare")
    result.tables.append(Table(title, columns, rows))
    result.notes.append(
        "The bar is judged on copies in turns. Each value is of one process that was copied; processes of one program"
        " differ by where things lie in memory, and copies of one less, as `bare of bare` shows."
    )
    result.data["copies"] = data


# ---------------------------------------------------------------------------------------------- blocks


def fill_blocks(result: Result, programs: list[Program], pairs: int) -> None:
    rows = []
    for program in programs:
        say(f"{program.name}: {pairs} pairs of blocks ...")
        command = [sys.executable, str(FOLDER / "in_blocks.py"), program.module, *program.arguments(program.block)]
        told = json.loads(checked([*command, "--pairs", str(pairs)]).stdout.splitlines()[-1])
        found = ratios(told["off"], told["on"])
        result.data[f"blocks, {program.name}"] = told
        row = (spread(found).text(4, "x"), f"{100 * told['booked']:.2f}%")
        rows.append((program.name, *row, f"{100 * noise(found):.1f}%"))
    columns = ("program", "steps/s, on of off", "the report's own overhead", "pairs differ by")
    result.tables.append(Table(f"Recording switched on and off block by block: {pairs} pairs", columns, rows))
    result.notes.append(
        "Block by block, probes stay installed and the writer goes on in both; the report counts those two, too."
    )


# ---------------------------------------------------------------------------------------------- profilers


def fill_profilers(result: Result, programs: list[Program], rounds: int, shorter: int) -> None:
    found = {each.name: measure_speeds(each, PROFILERS, rounds, each.short_steps // shorter) for each in programs}
    rows = [
        (
            profiler.label,
            *(speed_cell(speeds, profiler.name) for speeds in found.values()),
            overall(found, profiler.name),
        )
        for profiler in PROFILERS
    ]
    title = f"Whole processes: steps/s of the training, of the bare run's; {rounds} rounds"
    result.tables.append(Table(title, ("profiler", *found, "all"), rows))
    for profiler in PROFILERS:
        for name, speeds in found.items():
            if profiler.name in speeds.failed:
                result.notes.append(f"{profiler.name} did not run on {name}: {speeds.failed[profiler.name]}.")
    if any(speeds.overflowed for speeds in found.values()):
        result.notes.append(
            "VizTracer's buffer, a million entries by default, overflowed: its trace lacks the beginning."
        )
    result.notes.append(
        "Two processes of one program can differ by a third here: in whole processes, read rlprof's row for its order"
        " of magnitude. What a profiler does after the training, for seconds in the case of VizTracer, is not in it."
    )
    result.data["profilers"] = {name: vars(each) for name, each in found.items()}


def speed_cell(speeds: Speeds, profiler: str) -> str:
    if profiler in speeds.failed:
        return "did not run"
    if profiler == BARE:
        return f"{spread(speeds.values[BARE]).median:.0f} steps/s"
    return f"{spread(speeds.ratios(profiler)).median:.2f}x"


def overall(found: dict[str, Speeds], profiler: str) -> str:
    values = [ratio for speeds in found.values() for ratio in speeds.ratios(profiler)]
    return "1" if profiler == BARE else spread(values).text(2, "x") if values else "-"


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--rounds", type=int, help="runs of each kind, for the phases (4; quick: 1)")
    parser.add_argument("--profiler-rounds", type=int, help="runs under each profiler (2; quick: 1)")
    parser.add_argument("--processes", type=int, help="processes that are copied (8; quick: 2)")
    parser.add_argument("--turns", type=int, help="rounds of turns in each (40; quick: 15)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these parts alone")
    parser.add_argument("--programs", nargs="+", choices=[each.name for each in PROGRAMS], help="these programs alone")
    args = parser.parse_args()
    programs = [each for each in PROGRAMS if not args.programs or each.name in args.programs]
    shorter = 3 if args.quick else 1
    result = new_result("Programs that know nothing of rlprof", args)
    if "phases" in args.only:
        fill_phases(result, programs, args.rounds or (1 if args.quick else 4), shorter)
    if "copies" in args.only:
        fill_copies(
            result, programs, args.processes or (2 if args.quick else 8), args.turns or (15 if args.quick else 40)
        )
    if "blocks" in args.only:
        fill_blocks(result, programs, 40 if args.quick else 150)
    if "profilers" in args.only:
        fill_profilers(result, programs, args.profiler_rounds or (1 if args.quick else 2), shorter)
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
