"""Asks every rule and puts the findings in the order in which they are worth acting on."""

from __future__ import annotations

from typing import Final

from rlprof.advise.rule import Rule
from rlprof.advise.rules.advantage_loop import advantage_loop
from rlprof.advise.rules.anomaly_detection import anomaly_detection
from rlprof.advise.rules.below_expectation import below_expectation
from rlprof.advise.rules.buffer_hotspot import buffer_hotspot
from rlprof.advise.rules.checkpoint_pause import checkpoint_pause
from rlprof.advise.rules.cost_grows import cost_grows
from rlprof.advise.rules.cpu_quota import cpu_quota
from rlprof.advise.rules.cumulative_fps import cumulative_fps
from rlprof.advise.rules.device_idle import device_idle
from rlprof.advise.rules.device_too_small_net import device_too_small_net
from rlprof.advise.rules.distribution_validation import distribution_validation
from rlprof.advise.rules.env_hotspot import env_hotspot
from rlprof.advise.rules.evaluation_cost import evaluation_cost
from rlprof.advise.rules.float64 import float64
from rlprof.advise.rules.forward_beside_loss import forward_beside_loss
from rlprof.advise.rules.gc_pauses import gc_pauses
from rlprof.advise.rules.launch_bound import launch_bound
from rlprof.advise.rules.list_to_tensor import list_to_tensor
from rlprof.advise.rules.loader_workers import loader_workers
from rlprof.advise.rules.logging_cost import logging_cost
from rlprof.advise.rules.memory_growth import memory_growth
from rlprof.advise.rules.memory_pressure import memory_pressure
from rlprof.advise.rules.obs_transport import obs_transport
from rlprof.advise.rules.phase_change import phase_change
from rlprof.advise.rules.process_wait import process_wait
from rlprof.advise.rules.recompile import recompile
from rlprof.advise.rules.render_cost import render_cost
from rlprof.advise.rules.repeat_upload import repeat_upload
from rlprof.advise.rules.reset_cost import reset_cost
from rlprof.advise.rules.serial_env_idle_cores import serial_env_idle_cores
from rlprof.advise.rules.straggler import straggler
from rlprof.advise.rules.sync_in_loop import sync_in_loop
from rlprof.advise.rules.teacher_cost import teacher_cost
from rlprof.advise.rules.thread_oversubscription import thread_oversubscription
from rlprof.advise.rules.tiny_minibatch import tiny_minibatch
from rlprof.advise.rules.too_many_workers import too_many_workers
from rlprof.advise.rules.unattributed_high import unattributed_high
from rlprof.advise.rules.unbatched_inference import unbatched_inference
from rlprof.advise.rules.update_ratio import update_ratio
from rlprof.advise.rules.vecenv_ipc import vecenv_ipc
from rlprof.advise.trust import STARVED
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report

#: The more special a rule is the further up: of two that point to one line, the first is kept.
RULES: Final[tuple[Rule, ...]] = (
    # Compilers and devices
    Rule("recompile", recompile),
    Rule("launch-bound", launch_bound, victims=frozenset({"device-idle"}), relieves=False),
    Rule("device-too-small-net", device_too_small_net, victims=frozenset({"device-idle"}), relieves=False),
    Rule("device-idle", device_idle, relieves=False),
    Rule("repeat-upload", repeat_upload, relieves=False),
    # Workers and the machine
    Rule(
        "thread-oversubscription",
        thread_oversubscription,
        victims=frozenset({"straggler", "vecenv-ipc", "update-ratio", "tiny-minibatch"}),
        relieves=False,
    ),
    Rule("cpu-quota", cpu_quota, victims=frozenset({"too-many-workers"}), relieves=False),
    Rule("too-many-workers", too_many_workers, victims=frozenset({"straggler"}), relieves=False),
    Rule("obs-transport", obs_transport, relieves=False),
    Rule("straggler", straggler, relieves=False),
    Rule("vecenv-ipc", vecenv_ipc, victims=frozenset({"too-many-workers"})),
    Rule("serial-env-idle-cores", serial_env_idle_cores, relieves=False),
    Rule(
        "process-wait",
        process_wait,
        victims=frozenset({"env-hotspot", "gc-pauses", "serial-env-idle-cores", "unattributed-high", "update-ratio"}),
    ),
    # A memory that is saved whole grows; that it is saved is the cause, and the longer it gets a part of it.
    Rule("checkpoint-pause", checkpoint_pause, victims=frozenset({"gc-pauses"})),
    # The course of the run
    Rule(
        "cost-grows",
        cost_grows,
        victims=frozenset({"env-hotspot", "buffer-hotspot", "logging-cost", "unattributed-high"}),
        doubted_by=frozenset({STARVED}),
    ),
    Rule("memory-pressure", memory_pressure, relieves=False),
    Rule("memory-growth", memory_growth),
    Rule("cumulative-fps", cumulative_fps, relieves=False),
    Rule("phase-change", phase_change, relieves=False),
    # One training loop
    Rule(
        "anomaly-detection",
        anomaly_detection,
        victims=frozenset({"advantage-loop", "distribution-validation", "gc-pauses", "unattributed-high"}),
    ),
    Rule("render-cost", render_cost),
    Rule("unbatched-inference", unbatched_inference, victims=frozenset({"sync-in-loop", "unattributed-high"})),
    Rule("advantage-loop", advantage_loop),
    Rule("list-to-tensor", list_to_tensor, victims=frozenset({"unattributed-high", "buffer-hotspot"})),
    Rule("sync-in-loop", sync_in_loop, victims=frozenset({"unattributed-high"})),
    Rule("reset-cost", reset_cost),
    Rule("logging-cost", logging_cost, victims=frozenset({"gc-pauses", "unattributed-high"})),
    Rule("evaluation-cost", evaluation_cost),
    Rule("gc-pauses", gc_pauses),
    Rule("env-hotspot", env_hotspot),
    Rule("buffer-hotspot", buffer_hotspot),
    Rule("loader-workers", loader_workers),
    Rule("teacher-cost", teacher_cost),
    Rule("tiny-minibatch", tiny_minibatch, victims=frozenset({"update-ratio"})),
    Rule("forward-beside-loss", forward_beside_loss),
    Rule("update-ratio", update_ratio),
    Rule("distribution-validation", distribution_validation),
    Rule("float64", float64),
    # What has no name yet
    Rule("unattributed-high", unattributed_high),
    Rule("below-expectation", below_expectation, relieves=False),
)


def advise(recording: Recording, report: Report, rules: tuple[Rule, ...] = RULES) -> tuple[Finding, ...]:
    """The findings of all rules, the largest possible gain first; equal gains stay in the order of the rules."""
    found = [(rule, finding) for rule in rules for finding in rule.judge(recording, report)]
    causes = [finding for rule, finding in found if not any(_is_victim(finding, other, by) for other, by in found)]
    return tuple(sorted(_one_each(causes), key=_rank))


def _is_victim(finding: Finding, rule: Rule, cause: Finding) -> bool:
    return finding.rule in rule.victims and _share_phases(finding, cause)


def _one_each(findings: list[Finding]) -> list[Finding]:
    """At most one finding for each line that is named first, and phase: a library's whole loop is one line of yours."""
    kept: list[Finding] = []
    for finding in findings:
        if not any(_same_place(finding, other) and _share_phases(finding, other) for other in kept):
            kept.append(finding)
    return kept


def _same_place(one: Finding, other: Finding) -> bool:
    if not one.where or not other.where:
        return False
    return (one.where[0].file, one.where[0].line) == (other.where[0].file, other.where[0].line)


def _share_phases(one: Finding, other: Finding) -> bool:
    """Whether two findings are about a common phase; one that names none may be about any."""
    mine, theirs = set(one.evidence.get("phases", ())), set(other.evidence.get("phases", ()))
    return not mine or not theirs or bool(mine & theirs)


def _rank(finding: Finding) -> tuple[bool, float]:
    """What is only said for information comes last, whatever it could bring."""
    return finding.severity == "info", -finding.gain.high
