"""The connection between `record` and an MBS server is reset at random bytes. With a server that holds what its client has not
confirmed, a run of the recorder's files has the events of an undisturbed one, also if that run is killed meanwhile. With another
server, what is missing is counted by the events' numbers, and everything that arrived is there.

EVENTLOOM_CUTS=N: so many in each case. EVENTLOOM_CUT_SEEDS=3-9: other seeds.
"""

import contextlib
import os
import random
import signal
from statistics import median

import pytest

from cut_relay import CutRelay
from interrupted import until
from live import EPOCH, HOST, merged, sockets
from lmd_reference import Event, Subevent, encode, white_rabbit
from mbs import Holds, Layout, Server, Serving
from program import Run
from results import assert_balanced, assert_same, dropped, read_ledger, read_merged
from test_killed_live import LIMIT, OPTIONS, VICTIMS, KeptRunning
from test_live_ends import KINDS, STAMP, STEP
from test_mbs import lmd_file
from test_record import Recorder, data_files, lost_hits, recorded_hits

CUTS = int(os.environ.get("EVENTLOOM_CUTS", 5))
FIRST_SEED, _, LAST_SEED = os.environ.get("EVENTLOOM_CUT_SEEDS", "1-2").partition("-")
SEEDS = range(int(FIRST_SEED), int(LAST_SEED or FIRST_SEED) + 1)
BUFFER = 1024  # bytes
LAYOUTS = {"variable": Layout(buffer_bytes=BUFFER), "native": Layout(True, buffer_bytes=BUFFER, per_stream=2)}
EVENTS = 200 * CUTS  # of which no cut takes more than 4 buffers, nor loses more than 2
KILLS_AND_CUTS = CUTS * 2 // 3
MANY = 100 + 2 * CUTS  # clients of a server
HEADS = 64  # bytes: a handshake and the header of a buffer
AWAY = [1] * 3  # before a handshake the recorder waits twice as long after each cut: 1.5 s in all, which would end a quiet epoch


def unsorted(first, count):
    """100 in each epoch, neighbours in the wrong order."""
    return [Event(n, [Subevent(1, white_rabbit(STAMP + 100 * (n ^ 1)))]) for n in range(first, first + count)]


HELD_KINDS = {"numbered": KINDS["numbered"], "unsorted": (unsorted, "?time=wr", "gap:50ns,1")}


def cuts(chance):
    return [chance.randrange(1, chance.choice((HEADS, 4 * BUFFER, 4 * BUFFER))) for _ in range(CUTS)]


@contextlib.contextmanager
def server_that_holds(folder, peer, layout, events):
    """Its port. `eventloom serve` sends the same events in buffers of the same size."""
    if peer == "python":
        with Server(*[Holds(LAYOUTS[layout], LAYOUTS[layout].buffers(events))] * MANY) as server:
            yield server.port
    else:
        words = ("--buffers", layout, "--buffer-size", BUFFER, "--stream-buffers", LAYOUTS[layout].per_stream, "--once")
        with Serving(folder, folder / "made.lmd", *words, protocol="stream") as serving:
            yield serving.port
            said = serving.ended()
        assert said.sent_events == len(events)


@contextlib.contextmanager
def server_that_forgets(folder, peer, layout, events):
    """Its port. `eventloom serve`, transport, takes its time: what it has pushed when it notices a cut is lost."""
    if peer == "python":
        with Server(*[Holds(LAYOUTS[layout], LAYOUTS[layout].buffers(events), forgetful=True)] * MANY) as server:
            yield server.port
    else:
        words = ("--buffers", layout, "--buffer-size", BUFFER, "--rate", 1000, "--flush-after", "1ms", "--once")
        with Serving(folder, folder / "made.lmd", *words) as serving:
            yield serving.port
            serving.ended(code=None)


def all_arrived(relays):
    """The servers have ended, and the recorder has read all that its system has received."""
    return all(relay.ended for relay in relays) and not any(
        one.to_read for relay in relays for one in sockets("tcp", relay.port, of_peers=True))


def record(folder, relay, protocol, keys):
    """The recorder after its end, and its messages."""
    with Recorder(folder, [f"mbs://{HOST}:{relay.port}/{protocol}{keys}"], "--reconnect", "60s") as recorder:
        until(lambda: all_arrived([relay]), "the end of the server", so_far=recorder.text)
        recorder.send(signal.SIGTERM, 0)
        return recorder, recorder.wait(3)


def print_downtimes(name, seed, relay):
    times = relay.downtimes
    print(f"{name}, seed {seed}: {relay.made} cuts, without data for {median(times):.3f} s (median), {max(times):.3f} s (most)")


@pytest.mark.parametrize("peer", ["python", "serve"])
@pytest.mark.parametrize("kind", HELD_KINDS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_cuts_change_nothing(tmp_path, peer, kind, layout, seed):
    make, keys, define = HELD_KINDS[kind]
    events, chance = make(1, EVENTS), random.Random(seed)
    file = lmd_file(tmp_path, events)
    expected = Run(tmp_path / "whole", [f"lmd:{file}{keys}"], "--define", define).merged
    planned = cuts(chance) + (AWAY if kind == "unsorted" else [])
    with server_that_holds(tmp_path, peer, layout, events) as port, CutRelay(port, planned) as relay:
        recorder, _ = record(tmp_path, relay, "stream", keys)
    path, = data_files(recorder.out)
    run = Run(tmp_path / "run", [f"file:{path}"], "--define", define)
    print_downtimes(f"{peer}, {kind}, {layout}", seed, relay)
    assert relay.made == len(planned) and lost_hits(recorder.out) == 0
    assert_same(read_merged(run.merged), read_merged(expected))
    assert_balanced(read_ledger(run.merged))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("peer", ["python", "serve"])
def test_what_a_cut_costs_is_counted(tmp_path, peer, kind, layout, seed):
    make, keys, define = KINDS[kind]
    events, chance = make(1, EVENTS), random.Random(seed)
    lmd_file(tmp_path, events)
    protocol, n_cuts = ("stream", CUTS) if peer == "python" else ("transport", CUTS // 2)
    first, *others = cuts(chance)[:n_cuts]
    planned = [first + 2 * BUFFER, *others]  # nobody knows what a cut before the first event costs
    with server_that_forgets(tmp_path, peer, layout, events) as port, CutRelay(port, planned) as relay:
        recorder, reported = record(tmp_path, relay, protocol, keys)
    path, = data_files(recorder.out)
    times = recorded_hits(path).time.tolist()
    found = [(time - STAMP) // STEP for time in times] if kind == "stamped" else times
    arrived = {event.number for event in events if any(encode(event) in passed for passed in relay.passed)}
    missing = found[-1] - found[0] + 1 - len(found)  # later ones nobody can know of
    print_downtimes(f"{peer}, {kind}, {layout}", seed, relay)
    print(f"{len(found)} of {len(events)} events recorded, {missing} missing between them")
    assert found == sorted(set(found)) and arrived <= set(found) <= {event.number for event in events}
    assert recorder.report()["per_source"][0]["counts"].get("missing_numbers", 0) == missing
    assert (relay.made == n_cuts or peer == "serve") and len(found) < len(events)
    assert missing == 0 or f"missing_numbers {missing}" in reported
    assert found[0] == 1 or layout == "variable" or "earlier buffers were not received" in reported
    run = Run(tmp_path / "run", [f"file:{path}"], "--define", define, code=None)
    assert read_merged(run.merged)["hits/time"].tolist() == times
    if kind == "stamped":
        assert run.done.returncode == (3 if missing else 0)
        assert dropped(read_ledger(run.merged))["lost"] == missing == lost_hits(recorder.out)
    assert_balanced(read_ledger(run.merged))


def half_events(source):
    """Two hits in each epoch: those of two sources are the events of test_killed_live."""
    return [Event(n, [Subevent(2 * source + k, white_rabbit(STAMP + EPOCH * n)) for k in (0, 1)]) for n in range(1, 1 + EVENTS)]


def test_cuts_and_kills(tmp_path):
    """Of the recorder's connections, and of the run that follows what it records."""
    seed, layout = SEEDS[0], LAYOUTS["variable"]
    chance = random.Random(seed)
    files = [lmd_file(tmp_path, half_events(source), f"{source}.lmd") for source in (0, 1)]
    expected = Run(tmp_path / "whole", [f"lmd:{file}?time=wr" for file in files], *OPTIONS).merged
    holders = [Holds(layout, layout.buffers(half_events(source)), released=0) for source in (0, 1)]
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(*[holder] * MANY)) for holder in holders]
        relays = [stack.enter_context(CutRelay(server.port)) for server in servers]
        recorder = stack.enter_context(Recorder(
            tmp_path, [f"mbs://{HOST}:{relay.port}/stream?time=wr" for relay in relays], "--reconnect", "60s"))
        run = stack.enter_context(KeptRunning(
            tmp_path / "run", [f"file:{recorder.out}/source_00{k}.*.epochs?follow" for k in (0, 1)]))
        victims = [chance.choice(VICTIMS if n % 2 else relays) for n in range(KILLS_AND_CUTS)]
        chance.shuffle(victims)
        for number, victim in enumerate(victims):
            for holder in holders:
                holder.released = (number + 1) * len(holder.groups) // (len(victims) + 1)
            if victim in relays:
                victim.cut_after(chance.randrange(1, 4 * BUFFER))
                until(lambda: victim.made == victims[:number + 1].count(victim), "the cut", so_far=recorder.text)
            else:
                run.kill(victim)
        for holder in holders:
            holder.released = len(holder.groups)
        until(lambda: all_arrived(relays), "the end of the servers", so_far=recorder.text)
        recorder.send(signal.SIGTERM, 0)
        recorder.process.wait(LIMIT)
        assert run.process.wait(LIMIT) == 0, run.text()
    print(f"seed {seed}: {sum(relay.made for relay in relays)} cuts, {run.text().count('the run has died')} kills, "
          f"without a run for {median(run.downtimes):.2f} s (median)")
    merged(run.folder)
    assert_same(read_merged(run.folder / "merged.h5"), read_merged(expected))
    assert_balanced(read_ledger(run.folder / "merged.h5"))
