"""Defending a network, as a gymnasium environment of objects: in every step, each host and all it runs is looked at."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .cyber_network import DECOYS, FOOTHOLD, HOSTS, NO_DECOYS, PORTS, SERVERS, Host, Network, Snapshot
from .cyber_red import Chances, Red

Bits = NDArray[np.int8]
Report = dict[str, Any]

STEPS = 100  # of an episode
DRAWS = 7  # random numbers of a step: one for each of Chances
KINDS = ("analyse", "remove", "restore", "decoy")
ACTIONS = 1 + len(KINDS) * len(HOSTS)  # the first one is to do nothing but monitor, which is always done
WITH_DECOYS = tuple(number for number in range(len(HOSTS)) if number not in NO_DECOYS)
BITS = 4 * len(HOSTS) + len(WITH_DECOYS)

QUIET, SCAN, EXPLOIT = range(3)  # what was seen at a host
CLEAN, UNKNOWN, USER, ROOT = range(4)  # what the defender believes that the attacker has there
SCAN_PORTS = 6  # this many ports from one address are a scan
FALSE_ALARM = 0.05
#: Costs in tenths, so that sums are exact: per step an owned host or server, a stopped plant, a host that is restored.
OWNED, OWNED_SERVER, STOPPED, RESTORED = 1, 10, 100, 10


class CyberEnv(gymnasium.Env[Bits, int]):  # type: ignore[misc]
    """Analyse a host, remove the attacker's sessions from it, restore it, or set up decoys; then the attacker acts.

    Removing does not help where the attacker has become root; restoring always does, costs 1, and takes decoys along.
    An observation has four bits for each host (scanned or attacked in this step, attacked; what it is believed to be),
    and one for each host that can have decoys. All random numbers of an episode are drawn when it begins.
    """

    def __init__(self) -> None:
        self.observation_space = spaces.MultiBinary(BITS)
        self.action_space = spaces.Discrete(ACTIONS)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Bits, dict[str, Any]]:
        super().reset(seed=seed)
        self.chances = self.np_random.random((STEPS, DRAWS)).tolist()
        self.network = Network()
        self.red = Red(self.network)
        self.beliefs = [CLEAN] * len(HOSTS)
        self.now = 0
        return self.observe(), {}

    def step(self, action: int) -> tuple[Bits, float, bool, bool, dict[str, Any]]:
        chances = Chances(*self.chances[self.now])
        self.now += 1
        self.defend(int(action))
        self.work(chances)
        stopped = self.red.act(self.now, chances)
        return self.observe(), self.reward(int(action), stopped), False, self.now == STEPS, {}

    def defend(self, action: int) -> None:
        if action == 0:
            return
        kind, number = divmod(action - 1, len(HOSTS))
        getattr(self, KINDS[kind])(self.network.hosts[number])

    def analyse(self, host: Host) -> None:
        strange = strange_processes(self.reports[host.number], host.image)
        root = any(process["user"] == "root" for process in strange)
        self.beliefs[host.number] = ROOT if root else USER if strange else CLEAN

    def remove(self, host: Host) -> None:
        if host.number != FOOTHOLD:  # the attacker sits in front of this one
            host.close_user_sessions()
        self.beliefs[host.number] = min(self.beliefs[host.number], UNKNOWN)

    def restore(self, host: Host) -> None:
        if host.number != FOOTHOLD:
            self.network.restore(host)
        self.beliefs[host.number] = CLEAN

    def decoy(self, host: Host) -> None:
        if host.number not in NO_DECOYS:
            host.add_decoys()

    def work(self, chances: Chances) -> None:
        """What people do all day; sometimes their inventory looks like a scan."""
        hosts = self.network.hosts
        for user in self.network.in_subnet("user"):
            for turn in (self.now, self.now + 1):
                server = hosts[SERVERS[(user.number + turn) % 3]]
                for service in server.services[:2]:
                    self.network.connect(self.now, user, server, PORTS[service.name])
        for plant in self.network.in_subnet("operational"):
            self.network.connect(self.now, hosts[SERVERS[2]], plant, PORTS["ssh"])
        if chances.alarm < FALSE_ALARM:
            for port in PORTS.values():
                self.network.connect(self.now, hosts[SERVERS[0]], hosts[int(chances.alarmed * len(hosts))], port)

    def observe(self) -> Bits:
        """Monitor every host, and put down what was seen and what is believed."""
        self.reports = [report_of(host.snapshot(self.now)) for host in self.network]
        bits: list[int] = []
        for number, report in enumerate(self.reports):
            activity = activity_of(report)
            if activity == EXPLOIT:
                self.beliefs[number] = max(self.beliefs[number], USER)
            belief = self.beliefs[number]
            bits += [activity != QUIET, activity == EXPLOIT, belief in (UNKNOWN, ROOT), belief in (USER, ROOT)]
        bits += [self.network.hosts[number].has_decoys() for number in WITH_DECOYS]
        return np.array(bits, dtype=np.int8)

    def reward(self, action: int, stopped: bool) -> float:
        cost = STOPPED if stopped else 0
        for host in self.network:
            if host.is_owned():
                cost += OWNED_SERVER if host.number in SERVERS else OWNED
        if action and KINDS[(action - 1) // len(HOSTS)] == "restore":
            cost += RESTORED
        return -cost / 10


def report_of(seen: Snapshot) -> Report:
    """What the monitor on a host sends: the defender knows nothing else of it."""
    return {
        "host": {"name": seen.name, "subnet": seen.subnet, "address": str(seen.address)},
        "processes": [
            {
                "pid": process.pid,
                "name": process.name,
                "user": process.user,
                "parent": process.parent,
                "ports": list(process.ports),
            }
            for process in seen.processes
        ],
        "connections": [
            {"from": str(each.source), "to": str(each.target), "port": each.port, "code": each.carries_code}
            for each in seen.connections
        ],
    }


def activity_of(report: Report) -> int:
    """What the connections to a host look like."""
    ports: dict[str, set[int]] = {}
    for seen in report["connections"]:
        if seen["to"] == report["host"]["address"]:
            if seen["code"]:
                return EXPLOIT
            ports.setdefault(seen["from"], set()).add(seen["port"])
    return SCAN if any(len(tried) >= SCAN_PORTS for tried in ports.values()) else QUIET


def strange_processes(report: Report, image: tuple[tuple[str, str], ...]) -> list[dict[str, Any]]:
    """What runs and is neither part of the host's image nor a decoy."""
    return [
        process
        for process in report["processes"]
        if (process["name"], process["user"]) not in image and process["name"] not in DECOYS
    ]
