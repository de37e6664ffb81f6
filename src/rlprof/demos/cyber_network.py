"""A network of hosts with services, processes, sessions and connections: what attackers and defenders act upon.

Three subnets of thirteen hosts, after the second CAGE challenge. The tables at the top are all there is to know about
the network; cyber_numpy.py plays the same game on them without the objects.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Network

SUBNETS = ("user", "enterprise", "operational")
ROUTES = {"user": ("enterprise",), "enterprise": ("user", "operational"), "operational": ("enterprise",)}
#: Name, subnet, and the services that an attacker may try.
HOSTS = (
    ("user0", 0, ("ssh", "ftp")),
    ("user1", 0, ("ssh", "ftp")),
    ("user2", 0, ("smb", "rdp", "netbios")),
    ("user3", 0, ("mysql", "http", "smtp")),
    ("user4", 0, ("ssh", "mysql", "http")),
    ("server0", 1, ("ssh",)),
    ("server1", 1, ("http", "smb", "rdp")),
    ("server2", 1, ("http", "smb", "rdp")),
    ("defender", 1, ("ssh", "syslog")),
    ("control", 2, ("ssh",)),
    ("plant0", 2, ("ssh",)),
    ("plant1", 2, ("ssh",)),
    ("plant2", 2, ("ssh",)),
)
FOOTHOLD, DEFENDER, CONTROL = 0, 8, 9
SERVERS = (5, 6, 7, 9)
#: How likely an exploit of the service succeeds.
EXPLOITS = {
    "ssh": 0.6, "ftp": 0.9, "smb": 0.8, "rdp": 0.7, "netbios": 0.5, "mysql": 0.8, "http": 0.7, "smtp": 0.4,
    "syslog": 0.0,
}  # fmt: skip
PORTS = {
    "ssh": 22, "ftp": 21, "smb": 445, "rdp": 3389, "netbios": 139, "mysql": 3306, "http": 80, "smtp": 25, "syslog": 514,
    "tomcat": 8080, "vsftpd": 2121, "haraka": 2525,
}  # fmt: skip
DECOYS = ("tomcat", "vsftpd", "haraka")
#: Neither the attacker's own host nor the defenders', and nothing else may run beside the control of the plant.
NO_DECOYS = (FOOTHOLD, DEFENDER, CONTROL)
SYSTEM_PROCESSES = (
    "init", "kthreadd", "ksoftirqd", "kworker", "migration", "kswapd", "khugepaged", "jbd2", "journald", "udevd",
    "networkd", "resolved", "timesyncd", "logind", "dbus", "polkitd", "cron", "atd", "agetty", "acpid", "irqbalance",
    "rngd", "smartd", "auditd", "rsyslogd", "unattended-upgrades", "snmpd", "collectd",
)  # fmt: skip
REMEMBERED = 64  # connections in the table of a host


@dataclass(slots=True)
class Process:
    pid: int
    name: str
    user: str
    parent: int
    ports: tuple[int, ...] = ()


@dataclass(slots=True)
class Service:
    name: str
    process: Process
    is_decoy: bool = False


@dataclass(slots=True)
class Session:
    """The attacker's hold on a host."""

    process: Process
    is_privileged: bool = False


@dataclass(frozen=True, slots=True)
class Connection:
    step: int
    source: IPv4Address
    target: IPv4Address
    port: int
    carries_code: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    name: str
    subnet: str
    address: IPv4Address
    processes: list[Process]
    connections: list[Connection]  # of the last step


@dataclass(slots=True)
class Host:
    number: int
    name: str
    subnet: str
    address: IPv4Address
    services: list[Service] = field(default_factory=list)
    processes: dict[int, Process] = field(default_factory=dict)
    sessions: list[Session] = field(default_factory=list)
    connections: deque[Connection] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    image: tuple[tuple[str, str], ...] = ()  # names and users of the processes that belong here
    last_pid: int = 0

    def start(self, name: str, user: str, parent: int = 1, ports: tuple[int, ...] = ()) -> Process:
        self.last_pid += 1
        process = Process(self.last_pid, name, user, parent, ports)
        self.processes[process.pid] = process
        return process

    def install(self, services: tuple[str, ...]) -> None:
        """Set the host up from scratch."""
        self.services, self.processes, self.sessions, self.last_pid = [], {}, [], 0
        for name in SYSTEM_PROCESSES:
            self.start(name, "root", parent=0)
        for name in services:
            self.services.append(Service(name, self.start(name, "daemon", ports=(PORTS[name],))))
        self.image = tuple((process.name, process.user) for process in self.processes.values())

    def add_decoys(self) -> None:
        if not self.has_decoys():
            for name in DECOYS:
                self.services.append(Service(name, self.start(name, "daemon", ports=(PORTS[name],)), is_decoy=True))

    def has_decoys(self) -> bool:
        return any(service.is_decoy for service in self.services)

    def open_session(self) -> None:
        self.sessions.append(Session(self.start("sh", "daemon", self.services[0].process.pid)))

    def escalate(self) -> None:
        for session in self.sessions:
            session.is_privileged = True
            session.process.user = "root"

    def close_user_sessions(self) -> None:
        for session in [session for session in self.sessions if not session.is_privileged]:
            self.sessions.remove(session)
            del self.processes[session.process.pid]

    def is_held(self) -> bool:
        return bool(self.sessions)

    def is_owned(self) -> bool:
        return any(session.is_privileged for session in self.sessions)

    def snapshot(self, step: int) -> Snapshot:
        """The host as it is now, for somebody who must not reach into it."""
        return Snapshot(
            self.name,
            self.subnet,
            self.address,
            [replace(process) for process in self.processes.values()],
            [connection for connection in self.connections if connection.step == step],
        )


class Network:
    """The hosts, and who can talk to whom."""

    def __init__(self) -> None:
        ranges = dict(zip(SUBNETS, IPv4Network("10.0.0.0/22").subnets(new_prefix=24), strict=False))
        self.hosts = [
            Host(number, name, SUBNETS[subnet], ranges[SUBNETS[subnet]][10 + number])
            for number, (name, subnet, _) in enumerate(HOSTS)
        ]
        self.by_address = {host.address: host for host in self.hosts}
        for host in self.hosts:
            self.restore(host)
        self.hosts[FOOTHOLD].open_session()

    def __iter__(self) -> Iterator[Host]:
        return iter(self.hosts)

    def restore(self, host: Host) -> None:
        host.install(HOSTS[host.number][2])

    def in_subnet(self, subnet: str) -> list[Host]:
        return [host for host in self.hosts if host.subnet == subnet]

    def path(self, source: Host, target: Host) -> list[str]:
        """The subnets between two hosts, both ends included, by breadth-first search."""
        ways, seen = deque([[source.subnet]]), {source.subnet}
        while ways:
            way = ways.popleft()
            if way[-1] == target.subnet:
                return way
            for following in ROUTES[way[-1]]:
                if following not in seen:
                    seen.add(following)
                    ways.append([*way, following])
        return []

    def connect(self, step: int, source: Host, target: Host, port: int, carries_code: bool = False) -> None:
        """Both ends write a connection down."""
        if self.path(source, target):
            connection = Connection(step, source.address, target.address, port, carries_code)
            source.connections.append(connection)
            target.connections.append(connection)
