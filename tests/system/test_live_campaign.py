"""Four peers that misbehave at random: jump, stall, flood, restart, send garbage or nothing. The run ends in time, its memory
stays flat, its ledger balances, what each board sent is accounted for, and complete slices are the serial reference's.

On a busy machine the time in which a rank waited for a core does not count, and what was delayed by it may be incomplete.

EVENTLOOM_LIVE_CAMPAIGN_SECONDS=150 for a longer one; EVENTLOOM_LIVE_CAMPAIGN_SEEDS=0-19 for other ones.
"""

import contextlib
import os
import random
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest

from epochs_file import hits_of_file, read_epochs_file
from interrupted import waited_for_a_core
from live import EPOCH, LiveRun, counts_of, drained, free_port, losses_of, masked, merged, rows, udp
from lmd_reference import Subevent
from misbehaviour import BadBoard, BadServer, Sent
from program import generate
from reference import INCOMPLETE, find_events, merged_file, weave
from results import event_keys

SECONDS = float(os.environ.get("EVENTLOOM_LIVE_CAMPAIGN_SECONDS", 10))
SEEDS = os.environ.get("EVENTLOOM_LIVE_CAMPAIGN_SEEDS", "0-1")
DEFINE, SLICE_EPOCHS, OVERLAP = "gap:25ns,4", 100, EPOCH
NEAR = 2 * OVERLAP  # ticks: hits farther apart are unrelated
TIMEOUT = 1  # s, --epoch-timeout
BUFFER = 4 << 20
DURATION = SECONDS + 10  # s, of a run that ends by itself, after its peers on a busy machine, too
CALM = 1.5  # s between two misbehaviours of a peer
MARGIN = 0.3  # s around a misbehaviour in which slices may lack delayed data
ENDS_WITHIN = TIMEOUT + 10  # s
LONGEST = 300  # s of the wall clock, whatever else runs
LOOKS = 0.25  # s


def seeds():
    first, _, last = SEEDS.partition("-")
    return range(int(first), int(last or first) + 1)


@dataclass
class Streams:
    paths: list
    files: list
    hits: list
    seconds: float  # of data


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    """Data are sent ten times more slowly than they were recorded, since all senders are in Python."""
    seconds = max(1, SECONDS / 10)
    uris = generate(tmp_path_factory.mktemp("streams"), sources=4, rate=4_000, timing="poisson", hits=6, width="50ns",
                    noise=10_000, duration=f"{round(seconds * 1000)}ms", seed=3, **{"epochs-per-buffer": 500})
    paths = [Path(uri.removeprefix("file:")) for uri in uris]
    files = [read_epochs_file(path) for path in paths]
    return Streams(paths, files, [hits_of_file(file) for file in files], seconds)


class Memory:
    """Resident memory of processes."""

    def __init__(self, pids):
        self.pids, self.seen = list(pids), []

    def look(self):
        found = [re.search(r"VmRSS:\s+(\d+)", status) for status in map(self._status, self.pids)]
        self.seen.append([int(one[1]) * 1024 if one else 0 for one in found])

    @staticmethod
    def _status(pid):
        with contextlib.suppress(OSError):
            return Path(f"/proc/{pid}/status").read_text()
        return ""

    def growth(self):
        """[(growth in bytes, mean)] of each process from the middle of the run on, by a straight line."""
        kept = numpy.array(self.seen[len(self.seen) // 2:], dtype=float)
        slopes = numpy.polyfit(numpy.arange(len(kept)), kept, 1)[0]
        return list(zip(slopes * len(kept), kept.mean(axis=0)))


class Cores:
    """Whether the machine lets the ranks and the peers run."""

    def __init__(self, pids):
        self.pids = list(pids)
        self.delayed = Sent()  # a peer that misbehaves when the machine does
        self.waits, self.looked = self._waits(), 0

    def _waits(self):
        return [waited_for_a_core(pid) for pid in self.pids]

    def look(self, passed, rate):
        """Half a margin is left to what a quiet machine delays, too."""
        waits = self._waits()
        waited = max(now - before for now, before in zip(waits, self.waits))
        if max(waited, passed - self.looked - LOOKS) > MARGIN / 2:
            self.delayed.bad.append([int(self.looked * rate), int(passed * rate)])
        self.waits, self.looked = waits, passed


def misbehave(peers, memory, cores, seconds, data_seconds):
    """Misbehaves for `seconds`. Returns the epoch reached."""
    begin, rate = time.monotonic(), data_seconds * 1e9 / EPOCH / seconds
    while (passed := time.monotonic() - begin) < seconds:
        for peer in peers:
            peer.tick(int(passed * rate))
        if passed - cores.looked > LOOKS:
            cores.look(passed, rate)
            memory.look()
        time.sleep(0.002)
    cores.look(seconds, rate)
    return int(seconds * rate)


def reference_of(streams, peers):
    """Hits of unchanged data sent, by source, merged; as the run is to see them."""
    kept = []
    for number, (file, hits, peer) in enumerate(zip(streams.files, streams.hits, peers)):
        belongs = numpy.repeat(numpy.arange(len(file.buffers)), [b.n_hits for b in file.buffers])
        kept.append(hits.take(numpy.flatnonzero(numpy.isin(belongs, list(peer.sent.right)))))
        if isinstance(peer, BadServer):
            kept[-1].channel = numpy.array([Subevent(c & 0xFFFF, []).channel for c in kept[-1].channel], dtype=numpy.uint32)
    return weave(kept)


def slices_sent(hits):
    """{slice: hits}"""
    numbers, counts = numpy.unique(hits.time // numpy.uint64(SLICE_EPOCHS * EPOCH), return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist()))


def assert_complete_slices_right(hits, found):
    expected = set(event_keys(merged_file(find_events(hits, DEFINE, OVERLAP))))
    sent = slices_sent(hits)
    got, incomplete = rows(found), masked(found)
    complete = got.keys() - incomplete
    for number in complete:
        assert got[number]["hits_in"] == sent.get(number, 0), f"slice {number} is complete, yet not what was sent"
    events = event_keys(found, INCOMPLETE)
    wrong = [key for key in events if key not in expected]
    assert not wrong, f"{len(wrong)} events are not flagged, yet not the reference's, first {wrong[0]}"
    home = {key for key in expected if _slice(key[0][0] - NEAR) == _slice(key[-1][0] + NEAR) in complete}
    missing = home - set(events)
    assert not missing, f"{len(missing)} events of complete slices are not there, first {min(missing)}"
    return len(complete), len(incomplete)


def _slice(tick):
    return tick // (SLICE_EPOCHS * EPOCH)


def assert_calm_slices_complete(records, found, last):
    """While no peer misbehaves or has just misbehaved, by these records, nothing is missing. The first and the last moments
    are not counted."""
    margin = 2 * SLICE_EPOCHS + int(MARGIN * last / SECONDS)
    calm = [number for number in range(margin // SLICE_EPOCHS, (last - margin) // SLICE_EPOCHS)
            if all(sent.calm(number * SLICE_EPOCHS - margin, (number + 1) * SLICE_EPOCHS + margin) for sent in records)]
    got, incomplete = rows(found), masked(found)
    lacking = [number for number in calm if number not in got or number in incomplete]
    assert not lacking, f"{len(lacking)} of {len(calm)} slices in which all went well are not complete: {lacking[:20]}"
    return len(calm)


def assert_vanished_slices_counted(hits, found, reports):
    """Hits of slices without a row lay before the run or after its end, or were lost."""
    got = rows(found)
    vanished = sum(count for number, count in slices_sent(hits).items() if number not in got)
    elsewhere = sum(counts["hits_before_the_run"] + counts["hits_after_the_end"] + sum(lost.values())
                    for counts, lost in reports)
    assert vanished <= elsewhere, f"{vanished} hits of slices without a row, {elsewhere} counted as lost or outside the run"


def assert_accounted_for(report, number, peer):
    """Data that a peer claims to have sent are in the ledger, or lay before the run or after its end. A server that
    closes its connection, or sends garbage, loses the data that had not arrived."""
    counts = counts_of(report, number)
    if counts.get("kernel_drops"):
        return
    found = counts["hits_in"] + counts["hits_before_the_run"] + counts["hits_after_the_end"]
    reported = (number, found, peer.sent.hits, peer.sent.done, counts, losses_of(report, number))
    if isinstance(peer, BadServer) and {"restart", "flood", "garbage"} & set(peer.sent.done):
        assert 0 < found <= peer.sent.hits, reported
    else:
        assert found == peer.sent.hits, reported


@pytest.mark.parametrize("seed", seeds())
def test_campaign(tmp_path, streams, seed):
    rng = random.Random(seed)
    np, how = rng.choice([None, 2, 3]), rng.choice([signal.SIGINT, signal.SIGTERM, "--duration"])
    ports = [free_port(), free_port()]
    with contextlib.ExitStack() as stack:
        boards = [stack.enter_context(BadBoard(streams.files[n], ports[n // 2], 10 * seed + n, CALM)) for n in range(3)]
        server = stack.enter_context(BadServer(streams.files[3], streams.hits[3], 10 * seed + 3, CALM))
        peers = [*boards, server]
        ids = [file.source for file in streams.files]
        uris = [udp(ports[0], sources=f"{ids[0]},{ids[1]}"), udp(ports[1], sources=ids[2]),
                f"mbs://127.0.0.1:{server.port}/transport?time=wr"]
        options = ["--define", DEFINE, "--epochs-per-slice", SLICE_EPOCHS, "--overlap", f"{OVERLAP}ns", "--epoch-timeout",
                   f"{TIMEOUT}s", "--reconnect", "60s", "--live-buffer", BUFFER, "--on-congestion",
                   rng.choice(["block", "drop"])]
        if how == "--duration":
            options += ["--duration", f"{DURATION}s"]
        begun = time.monotonic()
        run = stack.enter_context(LiveRun(tmp_path, uris, *options, np=np).listening())
        for board in boards:
            board.restart(0)
        pids = run.ranks().values()
        memory, cores = Memory(pids), Cores(pids)
        last = misbehave(peers, memory, cores, SECONDS, streams.seconds)
        for peer in peers:
            peer.recover(last)
        for port in ports:
            drained(port)
        reported = time.monotonic()
        if how == "--duration":
            reported = max(reported, begun + DURATION + 1)  # its clock began slightly after ours
        else:
            run.signal(how)
        before, waited = {pid: waited_for_a_core(pid) for pid in pids}, 0
        while run.process.poll() is None and time.monotonic() - reported < LONGEST:
            server.flush()
            waited = max(waited, *(waited_for_a_core(pid) - before[pid] for pid in pids))
            time.sleep(0.01)
        took = time.monotonic() - reported
        text = run.wait(3, 1)
        found, report = merged(tmp_path), run.report()
    hits = reference_of(streams, peers)
    complete, incomplete = assert_complete_slices_right(hits, found)
    calm = assert_calm_slices_complete([cores.delayed, *(peer.sent for peer in peers)], found, last)
    for number, peer in enumerate(peers):
        assert_accounted_for(report, number, peer)
    assert_vanished_slices_counted(hits, found, [(counts_of(report, n), losses_of(report, n)) for n in range(len(peers))])
    growth = memory.growth()
    print(f"seed {seed}: {np} ranks, {how}, ended in {took:.1f} s, of which {waited:.1f} s without a core, {complete} complete ({calm} calm) and {incomplete} incomplete "
          f"slices, {[f'{by / 1e6:.1f} of {mean / 1e6:.0f} MB' for by, mean in growth]}, {[peer.sent.done for peer in peers]}")
    assert took - waited < ENDS_WITHIN and took < LONGEST
    assert all(by < 0.2 * mean + 8e6 for by, mean in growth), "memory grows"
    assert complete > 0 and len(text) < 1e6
