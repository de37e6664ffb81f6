"""Every probe changes its library, and puts everything back."""

from __future__ import annotations

import pytest

from rlprof.probes import skrl
from support.alone import run_alone
from support.installed import FOR_RLLIB, need

PROGRAM = """
    import importlib, os, sys, warnings

    warnings.simplefilter("ignore")
    library, *names = os.environ["PROBED"].split()
    for name in names:
        importlib.import_module(name)

    from rlprof.probes.install import PROBES, Probes

    def state():
        found = {}
        for name, module in list(sys.modules.items()):
            if name.split(".")[0] not in (library, "torch") or module is None:
                continue
            for thing in [module, *(x for x in vars(module).values() if isinstance(x, type))]:
                for key, value in list(vars(thing).items()):
                    if not isinstance(value, int):  # torch counts the hooks it ever had
                        found[repr(thing), id(thing), key] = id(value)
        return found

    watched = {name for probe in PROBES if probe.LIBRARY == library for name in probe.WATCHED}
    assert watched, "no probe for it"
    assert watched <= set(sys.modules), watched - set(sys.modules)
    state()  # asking for things makes some libraries load more
    before = state()
    probes = Probes()
    probes.start()
    during = state()
    probes.stop()
    assert state() == before, set(state().items()) ^ set(before.items())
    changed = {key for key in before if before[key] != during.get(key)} | (during.keys() - before.keys())
    print(len({key for key in changed if library in key[0]}))
"""

#: Each library, the modules that its probes wait for, and how many things they change at least.
LIBRARIES = {
    "gymnasium": (["gymnasium", "gymnasium.vector"], 20),
    "torch": (["torch"], 5),
    "stable_baselines3": (["stable_baselines3"], 20),
    "torchrl": (
        ["torchrl.envs", "torchrl.collectors", "torchrl.data", "torchrl.objectives", "torchrl.record.loggers"],
        60,
    ),
    "pettingzoo": (["pettingzoo"], 12),
    "tianshou": (["tianshou.algorithm", "tianshou.trainer", "tianshou.utils.logger.logger_base"], 15),
    "skrl": (list(skrl.WATCHED), 15),
    "envpool": (["envpool.python.envpool"], 4),
    "ray": (["ray.rllib.algorithms.ppo", "ray.rllib.connectors.learner", "ray.rllib.utils.replay_buffers"], 10),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_a_probe_changes_it_puts_back(library: str) -> None:
    need(*(FOR_RLLIB if library == "ray" else (library,)))
    modules, least = LIBRARIES[library]
    done = run_alone(PROGRAM, PROBED=" ".join([library, *modules]))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.splitlines()[-1]) >= least
