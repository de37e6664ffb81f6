"""skrl (with torch): environments, agents with one or many heads, memories, advantages, tracking, evaluation."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.counting import count_from
from rlprof.probes.groups import BUFFER, ENV, EVALUATE, FORWARD, LOG, RESET, TRAIN
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.probes.subclasses import follow_subclasses
from rlprof.record.wrap import outermost, timed

LIBRARY: Final = "skrl"

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy


def _timed_step(original: Callable[..., Any]) -> Callable[..., Any]:
    """The environment inside may be of any making; here it is known how many there are."""

    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_busy(ENV):
            return original(self, *args, **kwargs)
        loop.env_step()
        with _guarded_span("env.step", "env.step", PROBE, ENV):
            result = original(self, *args, **kwargs)
        if not _is_busy(EVALUATE):
            _core.infer_count("env_steps", self.num_envs)
            count_from(LIBRARY, _note_episodes, result)
        return result

    return step


def _note_episodes(result: Any) -> None:
    """No device is waited for, and where many agents end in their own time, nothing is said."""
    _, _, terminated, truncated, _ = result
    if isinstance(terminated, dict) or terminated.device.type != "cpu":
        return
    ended = int((terminated | truncated).sum())
    if ended:
        _core.infer_count("episodes", ended)


def install_envs(module: ModuleType, patches: Patches) -> None:
    methods = {"step": _timed_step, "reset": outermost("env.reset", "env.reset", RESET)}
    for base in (module.Wrapper, module.MultiAgentEnvWrapper):
        follow_subclasses(base, methods, patches)


_AGENT: Final = {
    "act": outermost("forward", "policy.forward", FORWARD),
    "record_transition": outermost("buffer.add", "buffer.add", BUFFER),
    "update": outermost("train", "learn.other", TRAIN),  # what its forward, backward and optimizer leave
    "write_tracking_data": outermost("log", "log", LOG),
    "write_checkpoint": timed("save", "checkpoint"),
}


def install_agents(module: ModuleType, patches: Patches) -> None:
    follow_subclasses(module.Agent, _AGENT, patches)


def install_multi_agents(module: ModuleType, patches: Patches) -> None:
    follow_subclasses(module.MultiAgent, _AGENT, patches)


def install_memories(module: ModuleType, patches: Patches) -> None:
    sampling = outermost("buffer.sample", "buffer.sample", BUFFER)
    methods = {
        "add_samples": outermost("buffer.add", "buffer.add", BUFFER),
        "sample": sampling,
        "sample_all": sampling,
        "sample_by_index": sampling,
    }
    follow_subclasses(module.Memory, methods, patches)


def install_advantage(module: ModuleType, patches: Patches) -> None:
    """Each on-policy agent's module has a function of its own."""
    patches.function(module, "compute_gae", timed("advantage", "advantage"))


def install_trainers(module: ModuleType, patches: Patches) -> None:
    follow_subclasses(module.Trainer, {"eval": outermost("evaluate", "evaluate", EVALUATE)}, patches)


_WITH_ADVANTAGE: Final = (
    *(f"agents.torch.{name}.{name}{form}" for name in ("a2c", "ppo", "rpo", "trpo") for form in ("", "_rnn")),
    "agents.torch.amp.amp",
    "multi_agents.torch.ippo.ippo",
    "multi_agents.torch.mappo.mappo",
)

WATCHED: Final = {
    "skrl.envs.wrappers.torch.base": install_envs,
    "skrl.agents.torch.base": install_agents,
    "skrl.multi_agents.torch.base": install_multi_agents,
    "skrl.memories.torch.base": install_memories,
    "skrl.trainers.torch.base": install_trainers,
    **{f"skrl.{name}": install_advantage for name in _WITH_ADVANTAGE},
}
