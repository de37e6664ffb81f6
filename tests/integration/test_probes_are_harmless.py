"""With the probes on, what people do with modules and environments works as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import run_bare, run_recorded, write_program

PROGRAM = """
    import copy, inspect, os, pickle, warnings

    warnings.simplefilter("ignore")
    import cloudpickle
    import gymnasium as gym
    import torch
    from gymnasium.utils.env_checker import check_env
    from torch import nn

    torch.manual_seed(0)
    x = torch.ones(3, 4)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

    target = copy.deepcopy(net)
    with torch.no_grad():
        target[0].weight.add_(1.0)
    print("a copied network has weights of its own", not torch.equal(target(x), net(x)))
    print("and is a module", isinstance(net, nn.Module), torch.equal(pickle.loads(pickle.dumps(net))(x), net(x)))

    class Mine(gym.Env):
        observation_space = gym.spaces.Box(-1, 1, (2,))
        action_space = gym.spaces.Discrete(2)

        def step(self, action):
            return self.observation_space.sample(), 1.0, False, False, {}

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return self.observation_space.sample(), {}

    mine = pickle.loads(cloudpickle.dumps(Mine()))
    mine.reset(seed=1)
    print("an environment travels", mine.step(0)[1:], inspect.signature(Mine.step))
    check_env(gym.make("CartPole-v1").unwrapped, skip_render_check=True)

    class Sum(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            return self.net(x).sum()

    print("graph breaks", torch._dynamo.explain(Sum())(x).graph_break_count)
    torch._dynamo.reset()
    compiled = torch.compile(Sum(), backend="eager", fullgraph=True)
    print("compiles whole", float(compiled(x).detach()))
    print("scripts", torch.jit.script(nn.Sequential(nn.Linear(4, 2), nn.ReLU()))(x).shape)
    print("traces", torch.equal(torch.jit.trace(net, x)(x), net(x)))
    torch.save(net.state_dict(), "net.pt")
    net.load_state_dict(torch.load("net.pt"))
    print(sorted(torch.load("net.pt")))
"""


def test_copies_pickles_compilers_and_checkers_find_what_they_found_before(tmp_path: Path) -> None:
    for library in ("gymnasium", "torch", "cloudpickle"):
        pytest.importorskip(library)
    script = write_program(tmp_path, PROGRAM)
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert recorded.out == bare.out
    assert recorded.err.replace(f"rlprof: recorded into {recorded.target.name}\n", "") == bare.err
    assert recorded.code == 0
