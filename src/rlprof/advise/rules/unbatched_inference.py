"""`unbatched-inference`: the policy is asked for each environment of a vector, or of a list of them, by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import most_together, own_lines, part_named, seconds_of
from rlprof.advise.steps import envs_in_turn, forward_calls, step_calls
from rlprof.analyse.inner_loops import InnerLoops
from rlprof.analyse.ledger import open_account
from rlprof.analyse.stacks import lines_on_stacks, waist
from rlprof.model.recording import Frame, Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_count, format_duration

RULE: Final = "unbatched-inference"
ACTING: Final = "policy.forward"
#: With fewer environments, actor and critic asked apart look the same.
FEWEST_ENVS: Final = 4.0
#: Forwards for each step, as a part of the environments that it moves.
SMALLEST_PART: Final = 0.9
#: Lines around the forward that belong to the same loop.
NEAR: Final = 3
#: Where what happens beside the forward pass itself may be booked: taking rows, packing, unpacking and storing actions.
_BESIDE: Final = ("other", "unattributed", "transfer.sync", "transfer.d2h", "transfer.h2d", "learn.other", "buffer.add")


def unbatched_inference(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when there are as many forwards in each step as there are environments, or a loop of them for each."""
    found = list(_for_each_env(recording, report))
    yield from found or _in_a_loop(recording, report)


def _for_each_env(recording: Recording, report: Report) -> Iterator[Finding]:
    turns, forwards = envs_in_turn(recording, report), forward_calls(report)
    if turns is None or turns[0] < FEWEST_ENVS or forwards < SMALLEST_PART * turns[0] * turns[1]:
        return
    envs, steps = turns
    frame = waist(open_account(recording.main), ACTING)
    if frame is None:
        return
    acting = seconds_of(report, ACTING)
    beside = _beside(report, frame)
    most = (acting + beside) * (1.0 - 1.0 / envs)
    yield from Claim(
        RULE,
        f"{forwards / steps:.3g} forward passes for each turn of {envs:.3g} environments",
        Saving(0.0, most),
        (Place(frame.file, frame.line, frame.function),),
        f"{frame.file}:{frame.line} asks the policy for each environment ({format_count(forwards)} forward passes, "
        f"{format_duration(acting)}): stack the observations and ask once, "
        "`with torch.no_grad(): actions = policy(torch.as_tensor(observations)).argmax(dim=1).numpy()`, "
        "with observations of shape (environments, ...)",
        {
            "phases": [ACTING, *_BESIDE],
            "forwards": forwards,
            "forwards_per_step": forwards / steps,
            "envs": envs,
            "forward_seconds": acting,
            "seconds_beside_at_most": beside,
        },
    ).findings(report)


def _in_a_loop(recording: Recording, report: Report) -> Iterator[Finding]:
    """Many forwards for each step, in a loop that steps nothing: for agents, or a plan, whose answers may need others.

    Nobody can see whether they do, so it is a word only.
    """
    steps, forwards = step_calls(report), forward_calls(report)
    if not steps or forwards < FEWEST_ENVS * steps:
        return
    account = open_account(recording.main)
    frame = waist(account, ACTING)
    loop = InnerLoops(recording).innermost(frame.file, frame.line) if frame is not None else None
    stepping = {number for file, number in lines_on_stacks(account, "env.step") if loop and file == loop.file}
    if frame is None or loop is None or any(loop.first <= number <= loop.last for number in stepping):
        return
    each, acting = forwards / steps, seconds_of(report, ACTING)
    beside = _beside(report, frame)
    yield from Claim(
        RULE,
        f"{each:.3g} forward passes for each step, in the loop at lines {loop.first} to {loop.last}",
        Saving(0.0, (acting + beside) * (1.0 - 1.0 / each)),
        (Place(frame.file, frame.line, frame.function),),
        f"{frame.file}:{frame.line} asks a network {each:.3g} times in each step ({format_count(forwards)} forward "
        f"passes, {format_duration(acting)}). If no answer is needed for the next question, as with several agents "
        "that share a policy, stack what they see and ask once, "
        "`policy(torch.as_tensor(np.stack(list(views.values()))))`",
        {
            "phases": [ACTING],
            "forwards": forwards,
            "forwards_per_step": each,
            "forward_seconds": acting,
            "seconds_beside_at_most": beside,
        },
        at_most="info",
    ).findings(report)


def _beside(report: Report, frame: Frame) -> float:
    """The most that the loop around the forward took, in whatever part of the ledger it is."""
    most = 0.0
    for part in (part_named(report, name) for name in _BESIDE):
        near = [line for line in own_lines(part) if line.file == frame.file and abs(line.line - frame.line) <= NEAR]
        most += most_together(part, near) if part is not None else 0.0
    return most
