"""Runs over several hosts: whether TCP or memory connects the ranks does not change the result."""

import functools
import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from epochs_file import hits_of_file, read_epochs_file
from hosts import Hosts, available
from interrupted import STOPPED, parts, until
from program import Run, generate, schedule_table
from reference import find_events, ledger, merged_file, weave
from results import assert_balanced, assert_same, ledger_rows, read_ledger, read_merged

EPOCH = 10_000
PER_SLICE = 10
DEFINITION = "gap:60,4"
SCHEDULES = [
    "round-robin",
    "chaotic",
    "balanced",
    "table",
]
# ranks, ranks a host, transports, sources, builders, filters; role k is on rank k mod ranks
LAYOUTS = {
    "4 hosts": (4, 1, "tcp,self", 4, 4, 0),
    "2 hosts of 2 ranks": (4, 2, "all", 4, 4, 0),
    "a host for each role": (5, 1, "tcp,self", 2, 2, 1),
    "a host for the filters": (6, 2, "all", 2, 2, 2),
}
# 560 kB at once from h1 to h2, without TCP's congestion control.
FLOOD = """
import socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(400):
    udp.sendto(bytes(1400), ("10.77.0.2", 9999))
"""


@pytest.fixture(scope="module")
def possible():
    can, reason = available()
    if not can:
        pytest.skip(reason)


@pytest.fixture(scope="module")
def hosts(possible):
    with Hosts(5) as made:
        yield made


@pytest.fixture(scope="module")
def slow_hosts(possible):
    with Hosts(4, rate="4mbit", buffer="64kb") as made:
        yield made


class Streams:
    """Recorded streams; caches the reference's results for the first `n` of them."""

    def __init__(self, folder):
        self.uris = generate(folder, sources=4, rate=20_000, timing="poisson", hits=8, width="50ns", noise=100_000,
                             duration="40ms", payload=2, seed=1)

    @functools.lru_cache
    def events(self, sources):
        files = [read_epochs_file(uri.removeprefix("file:")) for uri in self.uris[:sources]]
        return find_events(weave([hits_of_file(file) for file in files]), DEFINITION, overlap=EPOCH)


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    return Streams(tmp_path_factory.mktemp("streams"))


def run_on(hosts, folder, streams, layout, schedule):
    ranks, per_host, transports, sources, builders, filters = layout
    if schedule == "table":
        schedule = schedule_table(folder, sources, builders)
    return Run(folder, streams.uris[:sources], "--define", DEFINITION, "--builders", builders, "--filters", filters,
               "--schedule", schedule, "--epoch", EPOCH, "--epochs-per-slice", PER_SLICE, np=ranks, timeout=60,
               launch=functools.partial(hosts.eventloom, per_host=per_host, env={"UCX_TLS": transports}))


def assert_right(run, events):
    assert_same(read_merged(run.merged), merged_file(events))
    account = read_ledger(run.output)
    assert_balanced(account)
    assert ledger_rows(account) == ledger(events, PER_SLICE * EPOCH)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_equals_the_reference(tmp_path, hosts, streams, schedule, layout):
    ranks, per_host, _, sources, _, _ = layout
    run = run_on(hosts, tmp_path, streams, layout, schedule)
    assert_right(run, streams.events(sources))
    report = run.report()
    assert report["hosts"] == [f"h{rank // per_host + 1}" for rank in range(ranks)]
    assert report["exchange"]["osc"] == "ucx"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_over_slow_links(tmp_path, slow_hosts, streams, schedule):
    run = run_on(slow_hosts, tmp_path, streams, LAYOUTS["4 hosts"], schedule)
    assert_right(run, streams.events(4))


def test_full_queues_drop_packets(slow_hosts):
    before = slow_hosts.drops()
    slow_hosts.call(1, "/usr/bin/python3", "-c", FLOOD)
    assert slow_hosts.drops() > before


def test_ranks_of_other_hosts_name_a_lost_rank(tmp_path, hosts, streams):
    """The launcher's daemon of its host is stopped meanwhile: it would end the run as soon as the rank is killed."""
    def found(host, *names):
        return [pid for pid, name in hosts.processes(host).items() if name in names]

    def launch(*arguments, np, **_):
        return hosts.eventloom(*arguments, np=np, code=STOPPED, timeout=60)

    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(Run, tmp_path, streams.uris[:3], "--define", DEFINITION, "--epoch", EPOCH, "--epochs-per-slice",
                          PER_SLICE, "--speed", 0.001, "--segment-size", 1, np=3, launch=launch)
        until(lambda: run.done() or parts(tmp_path), "a finished part")
        daemons, (rank,) = found(2, "orted", "prted"), found(2, "eventloom")
        for daemon in daemons:
            os.kill(daemon, signal.SIGSTOP)
        os.kill(rank, signal.SIGKILL)
        until(lambda: run.done() or not found(1, "eventloom") + found(3, "eventloom"), "the end of the other ranks")
        for daemon in daemons:
            os.kill(daemon, signal.SIGCONT)
        said = run.result().done.stderr
    lines = [line for line in said.splitlines() if "cannot be reached" in line]
    # A third rank may notice only that the first one has ended the run.
    assert lines and "rank 1 (source 1; builder 1) on h2 cannot be reached" in lines[0], said
    assert all("--resume continues the run" in line for line in lines), said
    assert "error of the program" not in said


class TestBench:
    """All to all over 8 links that drop data that wait too long. tests/benchmarks/shaped_links.py measures the time."""

    SIZE, SLICES = 1 << 20, 8
    WORDS = ("bench", "patterns", "--pattern", "all-to-all", "--sizes", SIZE, "--slices", SLICES, "--seconds", "0.01",
             "--repeat", 1)

    @pytest.fixture(scope="class")
    def measured(self, possible, tmp_path_factory):
        """By schedule: the point and the setup."""
        found = {}
        file = tmp_path_factory.mktemp("bench") / "bench.json"
        with Hosts(8, rate="100mbit", buffer="1mb") as hosts:
            for schedule in ("round-robin", "unshifted"):
                hosts.eventloom(*self.WORDS, "--schedule", schedule, "--report-json", file, np=8, timeout=60)
                report = json.loads(file.read_text())
                found[schedule] = report["points"][0], report["setup"]
        return found

    @pytest.mark.parametrize("schedule", ["round-robin", "unshifted"])
    def test_every_connection_carries_its_message(self, measured, schedule):
        point, setup = measured[schedule]
        assert setup["hosts"] == [f"h{rank}" for rank in range(1, 9)]
        carried = {(c["from"], c["to"]): (c["messages"], c["bytes"]) for c in point["connections"]}
        assert carried == {(a, b): (1, self.SIZE) for a in range(8) for b in range(8) if a != b}
        for c in point["connections"]:
            assert sum(c["rate_over_time_bytes_per_us"]) * c["bin_seconds"] * 1e6 == pytest.approx(self.SIZE)


class TestPeers:
    """The other peers of `bench patterns` between hosts."""

    WORDS = ("bench", "patterns", "--pattern", "all-to-one", "--schedule", "round-robin", "--seconds", "0.1", "--repeat", 1)

    def test_datagrams_that_links_drop_are_counted(self, possible, tmp_path):
        """Nothing slows a sender down: two of them fill the queue of the receiver's link."""
        file = tmp_path / "bench.json"
        with Hosts(3, rate="100mbit", buffer="64kb") as hosts:
            before = hosts.drops()
            hosts.eventloom(*self.WORDS, "--sizes", "1KiB,64KiB", "--verify", "--peer", "udp", "--report-json", file, np=3)
            assert hosts.drops() > before
        small, large = (point["peers"]["udp"] for point in json.loads(file.read_text())["points"])
        for peer in (small, large):
            assert peer["messages"] + peer["messages_lost"] == peer["messages_sent"] and peer["verify_errors"] == 0
        assert small["messages"] > 0 and large["messages_lost"] > 0

    @pytest.mark.parametrize("peer", ["shm", "zmq-ipc"])
    def test_memory_reaches_only_one_host(self, hosts, peer):
        reported = hosts.eventloom(*self.WORDS, "--peer", peer, np=2, code=2).stderr
        assert f"the peer {peer} needs all ranks on one host" in reported or "no ZeroMQ" in reported
