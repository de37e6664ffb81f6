"""The verdict says what bounds a run in a sentence or two, over the time after start-up."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rlprof.advise.report import complete_report
from rlprof.advise.verdict import verdict_of
from rlprof.analyse.report import build_report
from rlprof.model.report import Finding, Gain, Place, Report, StepSplit
from support.examples import HOSTILE, ppo_recording
from support.recordings import FrameSpec, RecordingBuilder, a_recording, iteration, span
from support.vector_envs import vector_recording

DRAW = FrameSpec("draw_board", "/home/ann/project/board.py", 118)
OTHER_DRAW = FrameSpec("draw_board", "/home/ann/project/board.py", 121)
MAIN = FrameSpec("main", "/home/ann/project/train.py", 80)
CARTPOLE = FrameSpec("CartPoleEnv.step", "/venv/lib/python3.11/site-packages/gymnasium/envs/cartpole.py", 187)


def said(builder: RecordingBuilder) -> str:
    verdict = complete_report(builder.build()).verdict
    assert verdict is not None
    return verdict


def of_phases(**seconds: float) -> RecordingBuilder:
    """Ten seconds; `env_step=7` is seven of them in env.step."""
    spans = [span(name.replace("_", ".", 1), self_seconds=taken) for name, taken in seconds.items()]
    return a_recording(seconds=10.0).spans(iteration(*spans))


def test_the_function_with_most_of_the_environment_is_named_with_its_largest_line() -> None:
    builder = of_phases(env_step=7.1, learn_loss=2.9)
    builder.sample("env.step", 60, MAIN, DRAW).sample("env.step", 20, MAIN, OTHER_DRAW).sample("env.step", 20, MAIN)
    assert said(builder) == (
        "You are environment-bound: 71% of the time is in env.step, most of it in `draw_board` at board.py:118. "
        "At most 3.45x if that were free."
    )


def test_a_librarys_function_is_named_with_the_line_that_calls_it() -> None:
    builder = of_phases(env_step=7.0, learn_loss=3.0).sample("env.step", 50, MAIN, CARTPOLE)
    assert "most of it in `CartPoleEnv.step`, called at train.py:80" in said(builder)


RECEIVE = FrameSpec("Connection._recv", "/usr/lib/python3.11/multiprocessing/connection.py", 395)


def test_talk_with_workers_of_ones_own_is_no_learning() -> None:
    builder = of_phases(env_step=1.0, learn_loss=9.0)
    builder.sample("learn.loss", 70, MAIN, RECEIVE).sample("learn.loss", 20, MAIN)
    assert said(builder) == (
        "You are communication-bound: 70% of the time is in talk with other processes or threads, most of it at "
        "train.py:80. At most 3.33x if that were free."
    )


def test_a_little_talk_leaves_a_phase_what_it_is() -> None:
    builder = of_phases(env_step=1.0, learn_loss=9.0)
    builder.sample("learn.loss", 30, MAIN, RECEIVE).sample("learn.loss", 60, MAIN)
    assert said(builder).startswith("You are learning-bound")


def test_a_program_that_fails_as_it_loads_is_bound_by_nothing() -> None:
    builder = a_recording(seconds=10.0).spans(span("gc generation 0", self_seconds=1.0, phase="gc"), span("glue"))
    builder.sample("", 50, MAIN)
    assert "nothing bounds it yet" not in said(builder)
    builder.status, builder.exit_code = "failed", 1
    assert said(builder) == "It failed before it was seen to train: nothing bounds it yet."


def test_few_samples_name_nobody() -> None:
    builder = of_phases(env_step=7.0, learn_loss=3.0).sample("env.step", 19, MAIN, DRAW)
    assert "draw_board" not in said(builder)


def test_start_up_does_not_count() -> None:
    builder = a_recording(seconds=10.0).spans(span("env.step", self_seconds=3.0), span("learn.loss", self_seconds=1.0))
    builder.slice_of_time(0.0, 6.0, {"": 6.0}).slice_of_time(6.0, 10.0, {"env.step": 3.0, "learn.loss": 1.0})
    assert said(builder) == (
        "You are environment-bound: 75% of the time after start-up is in env.step. At most 4.00x if that were free."
    )


@pytest.mark.parametrize(
    ("phases", "words"),
    [
        ({"policy_forward": 8.0}, "policy-bound: 80% of the time is in policy.forward"),
        ({"learn_loss": 3.0, "learn_backward": 5.0}, "learning-bound: 80% of the time is in learn.backward and learn"),
        ({"buffer_sample": 6.0}, "buffer-bound"),
        ({"transfer_sync": 6.0}, "transfer-bound"),
        ({"env_wait": 6.0}, "communication-bound: 60% of the time is in env.wait"),
        ({"log": 4.0, "evaluate": 3.0}, "bound by side work: 70% of the time is in log and evaluate"),
        ({"advantage": 6.0}, "bound by the computation of advantages"),
        ({"env_step": 4.2, "learn_loss": 2.0, "log": 2.0}, "environment-bound: 42%"),
        ({"walk": 7.0}, "work of your own that belongs to no phase: 70% of the time is in other"),
    ],
)
def test_each_category_has_its_word(phases: dict[str, float], words: str) -> None:
    assert words in said(of_phases(**phases))


def test_a_share_is_not_said_to_be_all_in_the_phases_that_are_named() -> None:
    phases = {"learn_other": 6.0, "learn_loss": 0.8, "learn_backward": 0.7, "learn_optimizer": 0.6}
    assert "81% of the time is in learn.other and smaller parts." in said(of_phases(**phases))


def test_two_parts_that_are_nearly_equal_do_not_stand_out() -> None:
    assert said(of_phases(env_step=4.4, learn_loss=4.0, log=1.0)) == (
        "Nothing stands out: 44% of the time is in the environment and 40% in learning. "
        "At most 1.79x if the largest were free."
    )


def test_time_in_no_span_is_said_to_have_no_name() -> None:
    builder = of_phases(env_step=3.0).sample("iteration", 50, MAIN, DRAW)
    assert said(builder) == (
        "What bounds it has no name yet: 70% of the time is in no span, most of it in `draw_board` at board.py:118."
    )


def test_a_short_run_is_not_judged() -> None:
    builder = a_recording(seconds=0.9).spans(span("env.step", self_seconds=0.8))
    assert said(builder) == "Too short to tell what bounds it: 900 ms of training."


def test_a_run_that_rlprof_disturbed_is_not_judged() -> None:
    builder = a_recording(seconds=10.0).spans(span("env.step", self_seconds=9.0, charged_ns=3_000_000_000))
    assert said(builder).startswith("Too disturbed to tell what bounds it: rlprof itself took 30% of the time")


def test_a_recording_without_spans_has_no_verdict() -> None:
    assert complete_report(a_recording(seconds=0.0).build()).verdict is None


def waiting_for_workers(simulator: float, interprocess: float) -> Report:
    """The example of two workers, with its ledger all in waiting and its split as given."""
    report = complete_report(vector_recording())
    assert report.workers is not None
    entry = report.workers.vector_envs[0]
    split = StepSplit(simulator, 0.0, 0.0, interprocess, None)
    workers = replace(report.workers, vector_envs=(replace(entry, split=split),))
    phases = tuple(
        replace(phase, seconds=simulator + interprocess) for phase in report.phases if phase.phase == "env.wait"
    )
    ledger = replace(report.ledger, unattributed_seconds=10.0 - simulator - interprocess)
    return replace(report, workers=workers, phases=phases, ledger=ledger)


def test_waiting_for_simulators_is_the_environments_time() -> None:
    assert verdict_of(waiting_for_workers(8.0, 1.0)) == (
        "You are environment-bound: 80% of the time passes while the simulators of 2 workers run. "
        "At most 5.00x if that were free."
    )


def test_waiting_while_no_simulator_runs_is_communication() -> None:
    assert verdict_of(waiting_for_workers(1.0, 8.0)) == (
        "You are communication-bound: 80% of the time is in env.wait. At most 5.00x if that were free."
    )


def test_a_run_that_is_nearly_all_one_thing_gets_no_made_up_bound() -> None:
    assert said(of_phases(env_step=10.0)).endswith("Many times as fast if that were free.")


def test_names_that_would_steer_a_terminal_are_harmless_in_it() -> None:
    builder = of_phases(env_step=9.0).sample("env.step", 50, FrameSpec(HOSTILE, f"/home/{HOSTILE}.py", 3))
    assert not re.search(r"[\x00-\x1f\u202e\ud800]", said(builder))


def test_the_example_of_a_healthy_run_reads_well() -> None:
    assert complete_report(ppo_recording()).verdict == (
        "Nothing stands out: 41% of the time after start-up is in the environment, 34% in learning and 16% in the "
        "policy. At most 1.70x if the largest were free."
    )


def test_a_cause_that_is_spread_over_phases_leads_where_none_of_them_stands_out() -> None:
    report = build_report(ppo_recording())
    place = Place("/home/ann/train.py", 65, "main")
    quiet = Finding("phase-change", "info", "it began to learn", {}, (), Gain(1.0, 1.0, 1.0), "none", False, "verify")
    loud = Finding("evaluation-cost", "critical", "149 evaluations take 46.1% of the time", {}, (place,),
                   Gain(1.9, 1.0, 2.6), "test less", False, "verify")  # fmt: skip
    assert verdict_of(report, (quiet, loud)) == (
        "No phase stands out, but one cause does: 149 evaluations take 46.1% of the time (train.py:65). "
        "At most 2.60x without it."
    )
    assert verdict_of(report, (quiet,)) == verdict_of(report)


@pytest.mark.parametrize(("share", "leads"), [(0.4, True), (0.1, False)])
def test_one_place_with_much_of_the_run_leads_though_nobody_can_name_it(share: float, leads: bool) -> None:
    report = build_report(ppo_recording())
    finding = Finding("unattributed-high", "warning", "much is at line 13", {"share_of_training": share}, (),
                      Gain(1.7, 1.0, 2.0), "put a span around it", False, "verify")  # fmt: skip
    assert (verdict_of(report, (finding,)) != verdict_of(report)) is leads
