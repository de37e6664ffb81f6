"""`repeat-upload`: what was collected is sent to the device again in every epoch of an update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import phase_named, seconds_of
from rlprof.advise.steps import step_calls
from rlprof.analyse.uploads import Upload, uploads_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_bytes

RULE: Final = "repeat-upload"
#: Bytes that updates upload, for each byte of what was collected.
MOST_TIMES: Final = 1.5
#: Beside an observation a step has an action, a reward, an end, a value, a log-probability, an advantage, a return.
BESIDE_OBSERVATION: Final = 56
#: A line that uploads once for each step of the environments sends what the policy is asked about.
ACTING: Final = 0.9
#: A line of an update is passed at most half as often.
UPDATING: Final = 0.5
PLACES_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class _Sent:
    updating: list[Upload]
    bytes: int  # by updates
    unique: float  # bytes of what was collected


def repeat_upload(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks of rollouts, which are learned from and thrown away; from a replay buffer samples come again anyway."""
    sent = _sent(recording, report)
    if sent is None or phase_named(report, "advantage") is None or sent.bytes < MOST_TIMES * sent.unique:
        return
    times = sent.bytes / sent.unique
    yield from Claim(
        RULE,
        f"updates send {format_bytes(sent.bytes)} to the device, {times:.3g} times the {format_bytes(sent.unique)} "
        "that were collected",
        Saving(0.0, seconds_of(report, "transfer.h2d") * (1.0 - 1.0 / times)),
        tuple(Place(upload.file, upload.line, "") for upload in sent.updating[:PLACES_NAMED]),
        (
            "send the rollout once, before the epochs, and index it there: `b_obs = b_obs.to(device)`, then "
            "`b_obs[indices]` with indices on the device; or collect into tensors that are on the device already. "
            "Where it is larger than the device's memory, send parts of several minibatches"
        ),
        {
            "phases": ["transfer.h2d"],
            "uploaded_bytes": sent.bytes,
            "collected_bytes": sent.unique,
            "times": times,
            "lines": [
                {"file": each.file, "line": each.line, "calls": each.calls, "bytes": each.bytes}
                for each in sent.updating[:PLACES_NAMED]
            ],
        },
    ).findings(report)


def _sent(recording: Recording, report: Report) -> _Sent | None:
    """None where nothing was uploaded for acting: what was collected is then of unknown size."""
    calls, steps = step_calls(report), report.throughput.env_steps
    if not calls or not steps:
        return None
    uploads = uploads_of(recording)
    acting = [upload for upload in uploads if upload.calls >= ACTING * calls]
    updating = [upload for upload in uploads if upload.calls <= UPDATING * calls]
    if not acting or not updating:
        return None
    observations = max(upload.bytes for upload in acting)
    unique = observations + BESIDE_OBSERVATION * steps
    return _Sent(sorted(updating, key=lambda each: -each.bytes), sum(each.bytes for each in updating), unique)
