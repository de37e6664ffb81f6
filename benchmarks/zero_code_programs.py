"""The training programs of zero_code.py: how they are started, and how long they train in each of its parts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from measure import HERE

FOLDER = HERE / "programs"


@dataclass(frozen=True)
class Program:
    name: str
    module: str
    flags: tuple[str, ...]
    steps: int  # of a run whose phases are compared
    short_steps: int  # of a run whose speed is compared
    block: int  # an iteration or some

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.module}.py"

    @property
    def timed_module(self) -> str:
        """Where the `train` of the hand-timed form is defined; that of Stable-Baselines3 is the program's own."""
        return self.module if self.module.startswith("sb3") else f"{self.module}_hand_timed"

    def arguments(self, steps: int) -> list[str]:
        return [*self.flags, "--steps", str(steps)]


PROGRAMS = (
    Program("SB3 PPO", "sb3_ppo", (), 30_000, 16_000, 1024),
    Program("SB3 PPO, processes", "sb3_ppo", ("--subproc",), 12_000, 6_000, 1024),
    Program("SB3 DQN", "sb3_dqn", (), 11_000, 6_000, 400),
    Program("CleanRL-style PPO", "cleanrl_ppo", (), 50_000, 26_000, 1024),
    Program("TorchRL PPO", "torchrl_ppo", (), 4_500, 2_300, 256),
)

#: Programs whose hand-timed form is a second file: without the lines of its timers it must be the first.
COPIES = ("cleanrl_ppo", "torchrl_ppo")


def differs_from_its_copy(module: str) -> bool:
    """Whether the hand-timed file does anything else than the program, apart from its timers."""
    program = (FOLDER / f"{module}.py").read_text(encoding="utf-8").splitlines()
    timed = (FOLDER / f"{module}_hand_timed.py").read_text(encoding="utf-8").splitlines()
    return [line for line in timed if "clock" not in line] != program[1:]  # the first line says what it is
