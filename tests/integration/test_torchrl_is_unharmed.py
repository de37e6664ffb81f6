"""With the probes on, TorchRL's modules and environments are compiled, copied and pickled as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.installed import need
from support.programs import run_bare, run_recorded, write_program

need("gymnasium", "tensordict", "torchrl")

PROGRAM = """
    import copy, inspect, logging, pickle, warnings

    warnings.simplefilter("ignore")
    import cloudpickle
    import torch
    from tensordict import TensorDict
    from tensordict.nn import TensorDictModule
    from torch import nn
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
    from torchrl.envs import EnvBase, PendulumEnv
    from torchrl.modules import ValueOperator
    from torchrl.objectives import LossModule
    from torchrl.objectives.value import GAE

    torch.manual_seed(0)
    logging.disable()

    class Square(LossModule):
        actor_network: nn.Module

        def __init__(self, network):
            super().__init__()
            self.convert_to_functional(network, "actor_network")

        def forward(self, tensordict):
            with self.actor_network_params.to_module(self.actor_network):
                value = self.actor_network(tensordict.copy())["value"]
            return TensorDict({"loss": value.pow(2).mean()}, [])

    network = TensorDictModule(nn.Linear(3, 1), in_keys=["observation"], out_keys=["value"])
    data = TensorDict({"observation": torch.ones(5, 3)}, [5])
    loss = Square(network)
    print("a loss is a module", isinstance(loss, nn.Module), inspect.signature(Square.forward))
    value = float(loss(data)["loss"].detach())
    print("its copies give the same", float(copy.deepcopy(loss)(data)["loss"].detach()) == value)
    print("and so do its pickles", float(pickle.loads(pickle.dumps(loss))(data)["loss"].detach()) == value)
    whole = torch.compile(lambda data: loss(data)["loss"], backend="eager", fullgraph=True)
    print("compiled whole, too", float(whole(data).detach()) == value)

    critic = ValueOperator(nn.Linear(3, 1), in_keys=["observation"])
    gae = GAE(gamma=0.9, lmbda=0.9, value_network=critic)
    env = PendulumEnv()
    env.set_seed(0)
    rollout = env.rollout(6)
    rollout["observation"] = torch.ones(6, 3)
    rollout["next", "observation"] = torch.ones(6, 3)
    print("advantages", gae(rollout.clone())["advantage"].flatten().tolist())
    breaks = torch._dynamo.explain(lambda data: gae(data)["advantage"])(rollout.clone()).graph_break_count
    print("graph breaks", breaks)

    print("an environment", isinstance(env, EnvBase), list(inspect.signature(PendulumEnv.rollout).parameters)[:3])
    print("steps", pickle.loads(pickle.dumps(env)).rollout(3).shape)

    class Mine(PendulumEnv):
        def _reset(self, tensordict, **kwargs):
            return super()._reset(tensordict, **kwargs)

    print("one's own, too", pickle.loads(cloudpickle.dumps(Mine)).__name__, Mine().rollout(3).shape)
    env.set_seed(1)
    state = env.reset()
    compiled_step = torch.compile(env.step, backend="eager", fullgraph=True)
    action = env.rand_action(state.clone())
    print("compiled", torch.equal(compiled_step(action.clone())["next", "reward"], env.step(action)["next", "reward"]))
    buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(8), batch_size=4)
    buffer.extend(rollout)
    print("a buffer travels", len(pickle.loads(pickle.dumps(buffer))))
"""


@pytest.mark.slow
def test_compilers_copies_and_pickles_find_what_they_found_before(tmp_path: Path) -> None:
    script = write_program(tmp_path, PROGRAM)
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert recorded.code == 0, recorded.err
    assert recorded.out == bare.out
