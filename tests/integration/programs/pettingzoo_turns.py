"""A guessing game in PettingZoo's two forms: rounds in which all act at once, and turns taken one after another."""

import gymnasium
from pettingzoo import ParallelEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec


class Guess(ParallelEnv):
    """Two agents name a number; who names the higher one wins the round. An episode has five rounds."""

    render_mode = None

    def __init__(self):
        self.metadata = {"name": "guess_v0", "is_parallelizable": True}
        self.possible_agents = ["left", "right"]
        self._spaces = {agent: gymnasium.spaces.Discrete(5, seed=1) for agent in self.possible_agents}

    def observation_space(self, agent):
        return self._spaces[agent]

    def action_space(self, agent):
        return self._spaces[agent]

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        self._round = 0
        return dict.fromkeys(self.agents, 0), {agent: {} for agent in self.agents}

    def step(self, actions):
        self._round += 1
        best = max(actions.values())
        agents, over = self.agents, self._round == 5
        if over:
            self.agents = []
        rewards = {agent: float(actions[agent] == best) for agent in agents}
        ended, cut = dict.fromkeys(agents, over), dict.fromkeys(agents, False)
        return dict.fromkeys(agents, best), rewards, ended, cut, {agent: {} for agent in agents}


def turns(env, episodes):
    total = 0.0
    for episode in range(episodes):
        env.reset(seed=episode)
        for agent in env.agent_iter():
            _, reward, terminated, truncated, _ = env.last()
            total += reward
            env.step(None if terminated or truncated else env.action_space(agent).sample())
    env.close()
    return total


def rounds(env, episodes):
    total = 0.0
    for episode in range(episodes):
        env.reset(seed=episode)
        while env.agents:
            _, rewards, *_ = env.step({agent: env.action_space(agent).sample() for agent in env.agents})
            total += sum(rewards.values())
    env.close()
    return total


if __name__ == "__main__":
    print(rounds(Guess(), 4))
    print(turns(wrappers.OrderEnforcingWrapper(parallel_to_aec(Guess())), 3))
    print(rounds(aec_to_parallel(parallel_to_aec(Guess())), 2))
