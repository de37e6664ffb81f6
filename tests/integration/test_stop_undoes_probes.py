"""After `stop()` every library is what it was before `start(probes=True)`: the very same objects in every place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.programs import run_bare, write_program

PROGRAM = """
    import builtins, gc, importlib, json, logging, pickle, sys, types

    from rlprof.probes.install import PROBES

    LOADED = {}
    for probe in PROBES:
        for name in probe.WATCHED:
            try:
                importlib.import_module(name)
            except ImportError:
                continue
            LOADED.setdefault(probe.LIBRARY, []).append(name)

    import gymnasium, numpy, rlprof
    from pickle import dump as copied_before

    def places():
        '''Every module, and every class that a module holds or that is derived from one.'''
        modules = [m for name, m in list(sys.modules.items()) if "rlprof" not in name]
        modules = [m for m in modules if issubclass(type(m), types.ModuleType)]
        classes, queue = {}, [v for m in modules for v in list(vars(m).values()) if issubclass(type(v), type)]
        while queue:
            found = queue.pop()
            if found not in classes:
                classes[found] = None
                queue.extend(type.__subclasses__(found))
        return [*modules, *(c for c in classes if not str(c.__module__).startswith("rlprof"))]

    def contents():
        return {(id(place), name): (place, value) for place in places() for name, value in list(vars(place).items())}

    def is_ours(value):
        if type(value) in (classmethod, staticmethod):
            value = value.__func__
        if type(value) is types.FunctionType:
            return value.__code__.co_filename.startswith(HOME)
        return type(value).__module__ == "rlprof._core"

    HOME = rlprof.__path__[0]

    def globals_of_the_interpreter():
        torch = sys.modules["torch.optim.optimizer"]
        hooks = [dict(torch._global_optimizer_pre_hooks), dict(torch._global_optimizer_post_hooks)]
        return [list(gc.callbacks), list(sys.meta_path), dict(vars(builtins)), hooks]

    before, interpreter = contents(), globals_of_the_interpreter()
    profiler = rlprof.get_profiler()
    profiler.start("own.rlprof", probes=True)

    class Mine(gymnasium.Env):
        def step(self, action):
            return 0, 1.0, False, False, {}

        def reset(self, *, seed=None, options=None):
            return 0, {}

    env = Mine()
    env.reset()
    for _ in range(10):
        env.step(0)
    module = types.ModuleType("imported_while_recording")
    sys.modules[module.__name__] = module
    exec("from pickle import dump; from numpy import save", vars(module))
    with open("a.pkl", "wb") as file:
        copied_before(1, file)
        module.dump(2, file)
    logging.getLogger("x").warning("hello")
    gc.collect()

    during = contents()
    patched = {key for key, (_, value) in during.items() if key not in before or before[key][1] is not value}
    patched = {key for key in patched if is_ours(during[key][1])}
    assert (id(Mine), "step") in patched
    assert (id(module), "dump") in patched
    assert (id(gymnasium.Env), "__init_subclass__") in patched
    assert is_ours(copied_before) and globals_of_the_interpreter() != interpreter
    profiler.stop()

    for key in patched & set(before):
        assert vars(during[key][0]).get(key[1]) is before[key][1], (during[key][0], key[1])
    left = [(owner, name) for (_, name), (owner, value) in contents().items() if is_ours(value)]
    assert left == [], left
    assert "__init_subclass__" not in vars(gymnasium.Env)
    assert copied_before is pickle.dump and module.save is numpy.save
    assert globals_of_the_interpreter() == interpreter

    def library(place):
        return (place.__name__ if issubclass(type(place), types.ModuleType) else place.__module__).split(".")[0]

    print(json.dumps(sorted({library(during[key][0]) for key in patched})))
    print(json.dumps(sorted(LOADED)))
"""


@pytest.mark.timeout(120)
def test_every_patched_attribute_is_the_same_object_again(tmp_path: Path) -> None:
    for library in ("gymnasium", "torch", "stable_baselines3"):
        pytest.importorskip(library)
    done = run_bare(write_program(tmp_path, PROGRAM), WANDB_MODE="offline")
    assert done.code == 0, done.err
    patched, loaded = (set(json.loads(line)) for line in done.out.splitlines())
    assert {"gymnasium", "torch", "stable_baselines3", "pickle", "numpy", "logging", "csv"} <= patched
    assert {"gymnasium", "torch", "stable_baselines3", "logging", "checkpoints", "gc"} <= loaded
