"""The attacker, who follows a script: scan, exploit, escalate, move on to the next subnet, and stop the plant."""

from __future__ import annotations

from dataclasses import dataclass

from .cyber_network import CONTROL, DEFENDER, EXPLOITS, FOOTHOLD, PORTS, SUBNETS, Host, Network

EAGER = 0.75  # how likely a scanned host is attacked while there are others to scan
ESCALATES = 0.9
SCAN_SEEN = 0.75
EXPLOIT_SEEN = 0.9


@dataclass(frozen=True, slots=True)
class Chances:
    """The random numbers of one step, all from 0 to 1. They are drawn whether they are needed or not."""

    choice: float
    target: float
    service: float
    success: float
    seen: float
    alarm: float
    alarmed: float


class Red:
    """Knows which subnets and hosts it has scanned, and keeps that when it is thrown out."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.swept: set[str] = set()
        self.scanned: set[int] = set()

    def act(self, step: int, chances: Chances) -> bool:
        """One action. Whether it was the one that stops the plant."""
        if self.network.hosts[CONTROL].is_owned():
            return True
        front = self.front()
        targets = self.targets(front)
        held = [host for host in targets if host.is_held() and not host.is_owned()]
        closed = [host for host in targets if not host.is_held()]
        ready = [host for host in closed if host.number in self.scanned]
        fresh = [host for host in closed if host.number not in self.scanned]
        if held:
            if chances.success < ESCALATES:
                held[0].escalate()
        elif front not in self.swept:
            self.swept.add(front)
        elif ready and (not fresh or chances.choice < EAGER):
            self.exploit(step, ready[int(chances.target * len(ready))], chances)
        elif fresh:
            self.scan(step, fresh[int(chances.target * len(fresh))], chances)
        return False

    def front(self) -> str:
        """The last subnet that can be reached: one that is next to an owned host."""
        for number in (1, 0):
            if any(host.is_owned() for host in self.targets(SUBNETS[number])):
                return SUBNETS[number + 1]
        return SUBNETS[0]

    def targets(self, subnet: str) -> list[Host]:
        return [host for host in self.network.in_subnet(subnet) if host.number not in (FOOTHOLD, DEFENDER)]

    def base(self, target: Host) -> Host:
        """Where an attack comes from: an owned host that is as near as can be."""
        owned = [host for host in self.network if host.is_owned() and host is not target]
        return min(owned, key=lambda host: len(self.network.path(host, target)), default=self.network.hosts[FOOTHOLD])

    def scan(self, step: int, target: Host, chances: Chances) -> None:
        self.scanned.add(target.number)
        if chances.seen < SCAN_SEEN:
            source = self.base(target)
            for port in PORTS.values():
                self.network.connect(step, source, target, port)

    def exploit(self, step: int, target: Host, chances: Chances) -> None:
        service = target.services[int(chances.service * len(target.services))]
        if service.is_decoy or chances.seen < EXPLOIT_SEEN:
            self.network.connect(step, self.base(target), target, PORTS[service.name], carries_code=True)
        if not service.is_decoy and chances.success < EXPLOITS[service.name]:
            target.open_session()
