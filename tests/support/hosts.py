"""Several hosts on one machine: network namespaces on a bridge, real TCP between them. Needs root."""

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import program

NETWORK = "10.77.0"
LAUNCHER = 0
LAUNCHER_ADDRESS = f"{NETWORK}.254"
MOST_HOSTS = 200
TOOLS = ("ip", "tc", "unshare", "hostname", "mpirun", "timeout")
BURST = "64kb"
PATH = f"/usr/sbin:/sbin:{os.environ['PATH']}"
# mpirun calls it as a remote shell: address, then the words of a command.
AGENT = """#!/bin/bash
host=h${{1##*.}}
shift
declare -A clocks=({clocks})
exec ip netns exec {prefix}$host unshare --uts --ipc ${{clocks[$host]}} bash -c "hostname $host; $*"
"""
DELAYED_LINK = Path(__file__).with_name("delayed_link.py")
# Waits for the end of its input, which comes with the end of the `with`, or of the tests however they end; then removes
# everything. Detached, in the background of a shell that exits at once: killing the tests does not end it.
GUARD = """(
trap '' HUP INT TERM
cat >/dev/null
for _ in $(seq 50); do
  left=$(for path in /run/netns/{prefix}*; do ip netns pids "${{path##*/}}"; done)
  [ "$left" ] || break
  kill -9 $left
  sleep 0.1
done
for path in /run/netns/{prefix}*; do ip netns delete "${{path##*/}}"; done
rm -rf '{folder}'
) <&0 2>/dev/null &"""


class HostsError(Exception):
    """A command that makes, queries or removes hosts failed."""


def call(*words):
    """Runs a short command; returns its output."""
    done = subprocess.run(["timeout", "-k", "5", "20", *map(str, words)], env={**os.environ, "PATH": PATH}, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise HostsError(f"exit code {done.returncode} of: {' '.join(map(str, words))}\n{done.stderr.strip()}")
    return done.stdout


def read_if_there(path):
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def available():
    """(whether hosts can be made here, the reason if not)"""
    if os.geteuid() != 0:
        return False, "network namespaces need root"
    missing = [tool for tool in TOOLS if not shutil.which(tool, path=PATH)]
    if missing:
        return False, f"not installed: {' '.join(missing)}"
    try:
        with Hosts(1, rate="100mbit") as hosts:
            hosts.call(1, "unshare", "--uts", "--ipc", "hostname", "h1")
    except HostsError as error:
        return False, f"no network namespaces here: {error}"
    return True, ""


def clocks_available():
    """(whether hosts can have their own clocks here, the reason if not)"""
    can, reason = available()
    if not can:
        return can, reason
    try:
        call("unshare", "--time", "--monotonic", "1", "--fork", "true")
    except HostsError as error:
        return False, f"no time namespaces here: {error}"
    return os.path.exists("/dev/net/tun"), "no /dev/net/tun here, through which delayed links pass"


class Hosts:
    """Hosts h1 to hN with addresses 10.77.0.1 to .N, and a launcher h0; all gone at the end of the `with`.

    `rate`: of every link, both ways, e.g. "100mbit"; `buffer`: bytes that may wait at either end, more are dropped.
    `small_first`: packets below 256 bytes, such as acknowledgements, need not wait there for larger ones.
    `delays`: {host: (microseconds from it to the switch, from the switch to it)}, instead of a rate.
    `clocks`: {host: whole seconds by which its steady clock is ahead of the machine's}, in a time namespace.
    Several of them may exist at the same time. The names h1 to hN are what the program sees as host names.
    """

    def __init__(self, n, rate=None, buffer="1mb", small_first=False, delays=None, clocks=None):
        assert 1 <= n <= MOST_HOSTS
        self.delays, self.clocks = delays or {}, clocks or {}
        self.n, self.rate, self.buffer, self.small_first = n, rate, buffer, small_first
        self.prefix = f"el{secrets.token_hex(3)}"
        self.switch = f"{self.prefix}sw"
        self.links = []

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix=f"{self.prefix}."))
        guard = GUARD.format(prefix=self.prefix, folder=self.folder)
        self.guard = subprocess.Popen(["bash", "-c", guard], env={**os.environ, "PATH": PATH}, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, start_new_session=True)
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.guard.communicate()  # returns when the guard has removed all
        for link in self.links:
            link.communicate()

    def namespace(self, host):
        return f"{self.prefix}h{host}"

    def eventloom(self, *arguments, np, per_host=1, omp=None, code=0, timeout=120, env=None, cwd=None):
        """Like program.eventloom, the ranks on as few hosts as hold them: ranks 0 to per_host-1 on h1, and so on.

        TCP between all ranks; with env={"UCX_TLS": "all"} shared memory inside a host. `env` reaches every rank.
        """
        hosts = -(-np // per_host)
        assert hosts <= self.n, f"{np} ranks, {per_host} a host, need {hosts} hosts"
        ours = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}
        ours |= {"OMPI_MCA_mpi_yield_when_idle": "1"}  # mpirun does not see that its hosts share the cores
        ours |= {"UCX_LOG_LEVEL": "fatal"}  # UCX warns of an "Endpoint timeout" when hosts end a run; harmless
        ours |= env or {}
        slots = ",".join(f"{NETWORK}.{host}:{per_host}" for host in range(1, hosts + 1))
        command = ["ip", "netns", "exec", self.namespace(LAUNCHER), "unshare", "--uts", "--ipc",
                   "mpirun", "-H", slots, "-np", np, "--bind-to", "none", *self._launching()]
        command += [word for name in ("OMP_NUM_THREADS", *ours) if not name.startswith("OMPI_MCA_")
                    for word in ("-x", name)]  # mpirun itself passes its own settings on
        command += [program.BINARY, *arguments]
        try:
            return program.bounded(list(map(str, command)), env=program.environment(omp) | ours | {"PATH": PATH},
                                   timeout=timeout, code=code, cwd=cwd)
        finally:
            self._kill()

    def call(self, host, *words):
        """Runs a short command on one host; returns its output."""
        return call("ip", "netns", "exec", self.namespace(host), *words)

    def processes(self, host):
        """{process id: name of its program} on one host."""
        pids = call("ip", "netns", "pids", self.namespace(host)).split()
        names = {int(pid): read_if_there(f"/proc/{pid}/comm").strip() for pid in pids}
        return {pid: name for pid, name in names.items() if name}

    def drops(self):
        """Packets that the queues of the links have dropped so far, in both directions; 0 for links without a rate."""
        ends = [end for host in range(1, self.n + 1) for end in self._link_ends(host)]
        queues = [queue for namespace, device in ends
                  for queue in json.loads(call("tc", "-n", namespace, "-s", "-j", "qdisc", "show", "dev", device))]
        return sum(queue["drops"] for queue in queues if queue["kind"] in ("tbf", "htb"))

    def retransmits(self):
        """TCP segments that the hosts have retransmitted so far; TCP also probes a lossless link that way."""
        total = 0
        for host in range(1, self.n + 1):
            counters = self.call(host, "cat", "/proc/net/snmp")
            names, values = (line.split() for line in counters.splitlines() if line.startswith("Tcp:"))
            total += int(dict(zip(names, values, strict=True))["RetransSegs"])
        return total

    def link(self, host, state):
        """Takes the link of one host "down" or "up" again."""
        call("ip", "-n", self.switch, "link", "set", f"p{host}", state)

    def _link_ends(self, host):
        return (self.namespace(host), "eth0"), (self.switch, f"p{host}")

    def _make(self):
        agent = self.folder / "agent.sh"
        clocks = " ".join(f"[h{host}]='--fork --time --monotonic {ahead}'" for host, ahead in self.clocks.items())
        agent.write_text(AGENT.format(prefix=self.prefix, clocks=clocks))
        agent.chmod(0o755)
        call("ip", "netns", "add", self.switch)
        call("ip", "-n", self.switch, "link", "add", "br0", "type", "bridge")
        call("ip", "-n", self.switch, "link", "set", "br0", "up")
        for host in range(self.n + 1):
            self._make_host(host)

    def _make_host(self, host):
        inside, port = self.namespace(host), f"p{host}"
        address = LAUNCHER_ADDRESS if host == LAUNCHER else f"{NETWORK}.{host}"
        call("ip", "netns", "add", inside)
        if host in self.delays:
            self._delay(f"{inside}:eth0", f"{self.switch}:{port}", *self.delays[host])
        else:
            call("ip", "link", "add", "eth0", "netns", inside, "type", "veth", "peer", "name", port, "netns", self.switch)
        call("ip", "-n", inside, "link", "set", "lo", "up")
        call("ip", "-n", inside, "addr", "add", f"{address}/24", "dev", "eth0")
        call("ip", "-n", inside, "link", "set", "eth0", "up")
        call("ip", "-n", self.switch, "link", "set", port, "master", "br0", "up")
        if self.rate and host != LAUNCHER:
            for namespace, device in self._link_ends(host):
                self._shape(namespace, device)

    def _delay(self, *words):
        """The link lasts until the guard ends its program, which is in the namespace of the switch."""
        link = subprocess.Popen([sys.executable, DELAYED_LINK, *map(str, words)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.links.append(link)
        if link.stdout.readline() != "ready\n":
            raise HostsError(f"no delayed link: {link.communicate()[1]}")

    def _shape(self, namespace, device):
        def tc(what, *words):
            call("tc", "-n", namespace, what, "add", "dev", device, *words)

        if not self.small_first:
            return tc("qdisc", "root", "tbf", "rate", self.rate, "burst", BURST, "limit", self.buffer)
        tc("qdisc", "root", "handle", "1:", "htb", "default", "2")
        tc("class", "parent", "1:", "classid", "1:9", "htb", "rate", self.rate, "burst", BURST)
        for band in (1, 2):
            tc("class", "parent", "1:9", "classid", f"1:{band}", "htb", "rate", "1mbit", "ceil", self.rate, "prio", band,
               "burst", BURST, "cburst", BURST)
            tc("qdisc", "parent", f"1:{band}", "bfifo", "limit", self.buffer)
        tc("filter", "parent", "1:", "protocol", "ip", "u32", "match", "u16", "0", "0xff00", "at", 2, "flowid", "1:1")

    def _launching(self):
        """Options of mpirun: Open MPI 5 has its parameters of daemons under other names."""
        version = int(re.search(r"\(Open MPI\) (\d+)", call("mpirun", "--version"))[1])
        option, shell, network, folder = (("--mca", "rsh", "oob_tcp_if_include", "orte_tmpdir_base") if version < 5 else
                                          ("--prtemca", "ssh", "prte_if_include", "prte_tmpdir_base"))
        parameters = {"plm": shell, f"plm_{shell}_agent": self.folder / "agent.sh", f"plm_{shell}_no_tree_spawn": 1,
                      network: f"{NETWORK}.0/24", folder: self.folder}
        return [word for name, value in parameters.items() for word in (option, name, value)]

    def _processes(self):
        return [pid for host in range(self.n + 1) for pid in self.processes(host)]

    def _kill(self):
        """Ends the processes on the hosts: a run that failed may have left ranks and daemons."""
        for _ in range(50):
            left = self._processes()
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                return
            time.sleep(0.1)
        raise RuntimeError(f"processes on the hosts cannot be killed: {left}")
