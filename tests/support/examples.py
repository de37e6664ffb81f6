"""Recordings that look like real runs, for tests of what is drawn."""

from __future__ import annotations

from rlprof.model.kinds import FUNCTION, MEMORY
from rlprof.model.recording import Recording
from support.recordings import FrameSpec, RecordingBuilder, SpanSpec, a_child, a_recording, iteration, span

HOSTILE = 'x[bold red]<script>alert(1)</script>\x1b[31m\x00\ud800\u202e|`@all #1 *b* \n\t"'


def ppo_spans() -> SpanSpec:
    """A PPO loop over 62 s in 40 iterations."""
    rollout = span(
        "rollout",
        span("policy_forward", count=10_240, self_seconds=9.4, phase="policy.forward"),
        span(
            "env_step",
            span("physics", count=10_240, self_seconds=17.1),
            span("render_frame", count=10_240, self_seconds=4.2, phase="env.render"),
            count=10_240,
            self_seconds=3.3,
            phase="env.step",
            rss_rise=12_400_000,
        ),
        span("buffer_add", count=10_240, self_seconds=0.62, phase="buffer.add", rss_rise=131_000_000, rss_exact=True),
        count=40,
        self_seconds=0.8,
    )
    update = span(
        "update",
        span("advantage", count=40, self_seconds=0.31),
        span(
            "minibatch",
            span("loss", count=1280, self_seconds=5.2, phase="learn.loss", kind=FUNCTION),
            span("backward", count=1280, self_seconds=11.9, phase="learn.backward"),
            span("optimizer_step", count=1280, self_seconds=3.05, phase="learn.optimizer"),
            count=1280,
            self_seconds=0.2,
            phase="learn.other",
        ),
        count=40,
        self_seconds=0.05,
        phase="learn.other",
        kind=MEMORY,
        rss_rise=88_000_000,
        rss_exact=True,
    )
    return iteration(rollout, update, span("checkpoint", count=4, self_seconds=1.1), count=40, self_seconds=0.7)


def ppo_builder() -> RecordingBuilder:
    """A healthy run of one process."""
    builder = a_recording(seconds=62.0)
    for kind in (0, 1, 4, 5):
        builder.cost(kind, inside=60.0, outside=90.0, error=12.0)
    builder.spans(ppo_spans(), charged_ns=310_000_000)
    durations = [1.4] * 38 + [2.9, 4.1]
    starts = [2.0 + sum(durations[:index]) for index in range(len(durations))]
    builder.counter_slices("env_steps", [(at, at + took, 2048) for at, took in zip(starts, durations, strict=True)])
    builder.counter("episodes", 412, first=2.0).counter("updates", 1280, first=3.0)
    builder.iterations(durations, env_steps=2048, first=2.0)
    builder.slow_iteration(39, 58.0, 4.1, {"update": 0.7, "checkpoint": 2.6, "rollout": 0.8, "env_step": 0.5})
    builder.slow_iteration(38, 55.1, 2.9, {"update": 0.7, "rollout": 2.1, "env_step": 1.9})
    builder.memory([(second, 520_000_000 + 700_000 * second, -1) for second in range(62)])
    _ppo_samples(builder)
    return builder


_UNLISTED = {"env_step": 3.3, "render_frame": 4.2, "optimizer_step": 3.05, "checkpoint": 1.1, "rollout": 0.8}
_UNLISTED.update({"buffer_add": 0.62, "advantage": 0.31})


def _ppo_samples(builder: RecordingBuilder) -> None:
    """Two seconds of start-up, then the loop with some lines of the user's in no span."""
    torch = "/home/ann/venv/lib/python3.11/site-packages/torch"
    train = FrameSpec("<module>", "/home/ann/project/train.py", 12)
    loading = FrameSpec("_find_and_load", "<frozen importlib._bootstrap>", 1176)
    module = FrameSpec("<module>", f"{torch}/__init__.py", 2885)
    builder.slice_of_time(0.0, 1.0, {"": 1.0}, [("", 90, (train, loading, module))])
    builder.slice_of_time(1.0, 2.0, {"": 1.0}, [("", 95, (FrameSpec("make_envs", "/home/ann/project/train.py", 40),))])
    own = {"": 2.07, "iteration": 0.7, "physics": 17.1, "backward": 11.9, "policy_forward": 9.4, "loss": 5.2}
    main = FrameSpec("main", "/home/ann/project/train.py", 88)
    physics = FrameSpec("Arm.integrate", "/home/ann/project/arm.py", 133)
    dot = FrameSpec("dot", "/home/ann/venv/lib/python3.11/site-packages/numpy/core/multiarray.py", 741)
    run = FrameSpec("_engine_run_backward", f"{torch}/autograd/graph.py", 979)
    samples: list[tuple[str, int, tuple[FrameSpec, ...]]] = [
        ("", 150, (main, FrameSpec("relabel", "/home/ann/project/goals.py", 57))),
        ("iteration", 60, (main, FrameSpec("dumps", "/usr/lib/python3.11/json/__init__.py", 231))),
        ("iteration", 5, (main,)),
        ("physics", 1200, (main, physics)),
        ("physics", 400, (main, physics, dot)),
        ("backward", 1100, (main, FrameSpec("learn", "/home/ann/project/train.py", 61), run)),
        ("policy_forward", 880, (main, FrameSpec("act", "/home/ann/project/train.py", 33))),
        ("loss", 12, (main, FrameSpec("learn", "/home/ann/project/train.py", 58))),
    ]
    samples += [(name, round(90 * seconds), (main,)) for name, seconds in _UNLISTED.items()]
    own.update(_UNLISTED)
    builder.slice_of_time(2.0, 62.0, own, samples)


def ppo_recording() -> Recording:
    return ppo_builder().build()


def busy_recording() -> Recording:
    """Workers, losses, warnings, an open span, unattributed time with samples: every section has something to say."""
    builder = a_recording(seconds=120.0, status="killed", exit_code=137)
    builder.cost(inside=70.0, outside=110.0, error=20.0)
    builder.spans(
        iteration(
            span(
                "collect",
                span("env_wait", count=50_000, self_seconds=48.0, phase="env.wait"),
                span("act", count=50_000, self_seconds=12.0, phase="policy.forward", device_rise=240_000_000),
                count=50,
                self_seconds=2.0,
            ),
            span("learn", count=49, open_calls=1, self_seconds=21.0, phase="learn.loss"),
            count=49,
            self_seconds=30.0,
        ),
    )
    builder.spans(span("prefetch", count=900, self_seconds=40.0, phase="transfer.h2d"), thread="prefetch", lived=100.0)
    builder.counter("env_steps", 400_000, first=3.0).iterations([2.3] * 48, env_steps=8000, first=3.0)
    main = FrameSpec("main", "/home/ann/project/train.py", 210)
    builder.sample("iteration", 400, main, FrameSpec("relabel", "/home/ann/project/goals.py", 57))
    builder.sample(
        "iteration",
        90,
        FrameSpec("log_metrics", "/home/ann/project/train.py", 188),
        FrameSpec("dump", "/usr/lib/python3.11/json/__init__.py", 179),
    )
    builder.sample("", 10, FrameSpec("_run", "<frozen runpy>", 88))
    builder.sample("env_wait", 640, main, FrameSpec("poll", "/usr/lib/python3.11/selectors.py", 415))
    builder.sample("act", 160, main, FrameSpec("act", "/home/ann/project/policy.py", 20))
    builder.sample("learn", 280, main, FrameSpec("update", "/home/ann/project/policy.py", 71))
    builder.sample("collect", 27, main)
    builder.losses(spans_dropped=1200)
    builder.warning("probe-off", "the memory probe failed once and was switched off", "see the log for its error")
    builder.memory([(second, 900_000_000 + 3_000_000 * second, 1_200_000_000) for second in range(0, 120, 2)])
    for number in range(4):
        child = a_child(seconds=110.0, status="killed" if number == 3 else "completed")
        child.spans(
            span("env.step", count=50_000, self_seconds=60.0 + number),
            span("env.ipc", count=50_000, self_seconds=9.0),
        )
        builder.child(child)
    return builder.build()


def hostile_recording() -> Recording:
    """Every text that comes from the recorded program is an attack."""
    builder = a_recording(
        seconds=30.0,
        command=("train.py", HOSTILE),
        source=HOSTILE,
        facts={
            **dict.fromkeys(("host", "python", "torch", "cpu", "gpu"), HOSTILE),
            "cores": 4,
            "inferred": [{"name": HOSTILE, "file": HOSTILE, "line": 1, "role": HOSTILE}, HOSTILE],
            "spans": {"missing": [HOSTILE], "found": HOSTILE},
        },
    )
    builder.spans(
        span(HOSTILE, span(HOSTILE, count=3, self_seconds=9.0, phase=HOSTILE), count=3, self_seconds=1.0),
        thread=HOSTILE,
    )
    builder.counter("env_steps", 1000).counter(HOSTILE, 3)
    builder.sample("", 100, FrameSpec(HOSTILE, HOSTILE + ".py", 1), FrameSpec(HOSTILE, f"/lib/python3.11/{HOSTILE}", 1))
    builder.sample(HOSTILE, 100, FrameSpec(HOSTILE, HOSTILE + ".py", 1))
    builder.losses(**{HOSTILE: 3})
    builder.warning(HOSTILE, HOSTILE, HOSTILE)
    child = a_child(seconds=5.0)
    child.role = HOSTILE
    child.spans(span(HOSTILE, self_seconds=1.0), thread=HOSTILE)
    return builder.child(child).build()
