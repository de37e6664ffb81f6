"""Three programs as most people would have them, and the lines that make each cure permanent in them.

They are those of `programs/` without what has been tuned there: threads are left to torch, and environments as cheap as
CartPole sit in processes of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from measure import HERE, CannotMeasure

Edit = tuple[str, str]

_TOP = "from __future__ import annotations\n"
_THREADS = "        torch.set_num_threads(1)\n"
_NO_CHECKS = "        torch.distributions.Distribution.set_default_validate_args(False)\n"
_BEFORE_LOOP = "    start = time.perf_counter()\n"
_FROZEN = "    gc.collect()\n    gc.freeze()\n    gc.set_threshold(50_000, 20, 50)\n"
_ONE_THREAD = (_TOP, f'{_TOP}\nimport os\n\nos.environ["OMP_NUM_THREADS"] = "1"\n')
_GC_FREEZE = ((_TOP, f"{_TOP}\nimport gc\n"), (_BEFORE_LOOP, _FROZEN + _BEFORE_LOOP))
_ONE_CORE = ((_TOP, f"{_TOP}\nimport os\n\nos.sched_setaffinity(0, {{0}})\n"),)


@dataclass(frozen=True)
class Program:
    """A program of `programs/`: how it is found, and how a person would write each cure into it."""

    file: str
    steps: int  # so that a run takes about a quarter of a minute on one core
    as_found: tuple[Edit, ...]
    permanent: dict[str, tuple[Edit, ...]]
    arguments: tuple[str, ...] = ()

    def text(self, cures: tuple[str, ...] = ()) -> str:
        found = (HERE / "programs" / self.file).read_text(encoding="utf-8")
        for edit in (*self.as_found, *(edit for cure in cures for edit in self.permanent[cure])):
            if edit[0] not in found:
                raise CannotMeasure(f"{self.file} has changed: {edit[0]!r} is not in it any more")
            found = found.replace(*edit)
        return found

    def write(self, path: Path, cures: tuple[str, ...] = ()) -> Path:
        path.write_text(self.text(cures), encoding="utf-8")
        return path


_ACTING = " " * 20 + "action, logprob"
_SB3_INIT = "    def __init__(self, subproc: bool = False) -> None:\n"
_CLEANRL_INIT = "        random.seed(1)\n"
_TORCHRL_INIT = "        torch.manual_seed(1)\n"

PROGRAMS = {
    "sb3": Program(
        "sb3_ppo.py",
        12_000,
        ((_THREADS, ""),),
        {
            "threads=1": (_ONE_THREAD, (_SB3_INIT, _SB3_INIT + _THREADS)),
            "no-validate": ((_SB3_INIT, _SB3_INIT + _NO_CHECKS),),
            "gc-freeze": _GC_FREEZE,
            "serial-vecenv": (("(SubprocVecEnv, 4) if subproc", "(DummyVecEnv, 4) if subproc"),),
            "affinity=0": _ONE_CORE,
            "start-method=fork": (
                ("vec_env_cls=backend)", 'vec_env_cls=backend, vec_env_kwargs={"start_method": "fork"})'),
            ),
        },
        ("--subproc",),
    ),
    "cleanrl": Program(
        "cleanrl_ppo.py",
        24_000,
        ((_THREADS, ""), ("gym.vector.SyncVectorEnv(", "gym.vector.AsyncVectorEnv(")),
        {
            "threads=1": (_ONE_THREAD, (_CLEANRL_INIT, _CLEANRL_INIT + _THREADS)),
            "no-validate": ((_CLEANRL_INIT, _CLEANRL_INIT + _NO_CHECKS),),
            "gc-freeze": _GC_FREEZE,
            "serial-vecenv": (("gym.vector.AsyncVectorEnv(", "gym.vector.SyncVectorEnv("),),
            "affinity=0": _ONE_CORE,
            "start-method=fork": (("for _ in range(ENVS)])", 'for _ in range(ENVS)], context="fork")'),),
            "inference-mode": ((f"with torch.no_grad():\n{_ACTING}", f"with torch.inference_mode():\n{_ACTING}"),),
        },
    ),
    "torchrl": Program(
        "torchrl_ppo.py",
        4_000,
        ((_THREADS, ""),),
        {
            "threads=1": (_ONE_THREAD, (_TORCHRL_INIT, _TORCHRL_INIT + _THREADS)),
            "no-validate": ((_TORCHRL_INIT, _TORCHRL_INIT + _NO_CHECKS),),
            "gc-freeze": _GC_FREEZE,
            "affinity=0": _ONE_CORE,
        },
    ),
}  # fmt: skip
