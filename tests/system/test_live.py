"""Runs on live input: sources that are late, silent or gone, runs that cannot keep up, clean ends, recordings,
mixtures."""

import contextlib
import signal
import socket
import time

import numpy
import pytest

from datagrams import DATA, FIELDS
from epochs_file import hits_of_file, read_epochs_file
from interrupted import STOPPED, lines_with, parts, until
from live import (EPOCH, HOST, Board, LiveRun, Recording, assert_slices_as_replayed, counts_of, datasets, drained, free_port,
                  ledger_of, losses, losses_of, masked, merged, rows, send, sockets, udp,
                  until_it_hears_the_end)
from lmd_reference import Event, Subevent, classic_file, white_rabbit
from mbs import Serving
from program import Run, eventloom
from reference import INCOMPLETE
from results import assert_balanced, assert_same, event_keys
from test_memory import list_mode_file
from test_stalls import held

PATIENT = ["--epoch-timeout", "20s"]  # these sources are never late
PART_BY_PART = ["--segment-size", "1"]  # one for each slice, so that it shows how far a run is
# 40 slices of 1 ms.
STREAMS = {"sources": 2, "rate": 20_000, "timing": "poisson", "hits": 8, "width": "50ns", "noise": 200_000,
           "duration": "40ms", "seed": 5, "epochs-per-buffer": 10}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording(tmp_path_factory.mktemp("recording"), "gap:25ns,4", 100, **STREAMS)


def live(folder, recording, uris, *options, np=None):
    return LiveRun(folder, uris, *recording.meaning, *options, np=np)


# Sources that are late, silent or gone

@pytest.fixture
def two_boards(tmp_path, recording):
    """A run with a timeout of one second, and its two boards, controlled by the test."""
    ports = [free_port(), free_port()]
    options = [*PART_BY_PART, "--builders", "1", "--epoch-timeout", "1s", "--stall-warning", "300ms"]
    with live(tmp_path, recording, map(udp, ports), *options, np=2).listening() as run, \
            Board(recording.files[0], ports[0]) as a, Board(recording.files[1], ports[1]) as b:
        a.header()
        yield run, a, b, ports


def warnings_of(run, number, port):
    """Warnings that name the source, by its number or its address."""
    return [line for line in lines_with(run.text(), "warning") if f":{port}" in line or f"source {number} " in line]


def until_silence_is_reported(run, number, port, before=()):
    until(lambda: len(warnings_of(run, number, port)) > len(before), f"a warning that names source {number}",
          so_far=run.text)


def until_back(run, number):
    """Waits until the source has caught up with the others."""
    run.until_reported(f"source {number} (", "is back at")


def together(boards, begin, end):
    """Both continue at the same pace."""
    for epoch in range(begin, end, 100):
        for board in boards:
            board.to(epoch + 100)


def test_a_board_that_comes_late(two_boards, recording):
    run, a, b, ports = two_boards
    a.to(2_000)
    run.until_parts(18)
    until_silence_is_reported(run, 1, ports[1])
    b.header()
    b.skip_to(2_000)
    b.to(2_500)
    until_back(run, 1)
    together((a, b), 2_000, 4_000)
    a.end()
    b.end()
    found = run.found(3)
    assert set(range(18)) <= set(masked(found)) <= set(range(21)) and set(masked(found).values()) == {2}
    assert_slices_as_replayed(recording, found)
    early = {k for k, buffer in enumerate(recording.files[1].buffers) if buffer.first_epoch < 2_000}
    assert sorted(event_keys(found)) == sorted(recording.events_without({1: early}))
    # Data received before the run was ready may be reported lost, or be unknown to it.
    assert losses(found) in ({}, {"lost": recording.hits(1, 0, 2_000)})
    assert found["ledger/hits_in"].sum() == recording.sent() - (0 if losses(found) else recording.hits(1, 0, 2_000))


def test_what_comes_after_its_slice(two_boards, recording):
    """One of two boards falls behind by more than --epoch-timeout: its data are late, later ones are not."""
    run, a, b, ports = two_boards
    b.header()
    together((a, b), 0, 1_000)
    a.to(2_000)
    run.until_parts(18)
    until_silence_is_reported(run, 1, ports[1])
    b.to(2_500)
    until_back(run, 1)
    together((a, b), 2_000, 4_000)
    a.end()
    b.end()
    found, report = run.found(3), run.report()
    incomplete = masked(found)
    assert set(range(10, 18)) <= set(incomplete) <= set(range(9, 21)) and set(incomplete.values()) == {2}
    assert set(losses(found)) == {"late"}
    assert found["ledger/hits_in"].sum() == recording.sent()
    assert_slices_as_replayed(recording, found)
    assert (losses_of(report, 0), losses_of(report, 1)) == ({}, losses(found))
    late = {k for k, buffer in enumerate(recording.files[1].buffers) if 1_000 <= buffer.first_epoch < 2_000}
    while sum(recording.files[1].buffers[k].n_hits for k in late) > losses(found)["late"]:
        late.remove(max(late))  # the slice in which it returned was not closed
    assert sum(recording.files[1].buffers[k].n_hits for k in late) == losses(found)["late"]
    assert {recording.files[1].buffers[k].first_epoch // 100 for k in late} >= set(range(10, 18))
    assert sorted(event_keys(found)) == sorted(recording.events_without({1: late}))


def test_a_board_that_leaves(two_boards, recording):
    """The board leaves silently: all data it has sent are used, missing ones are reported, and the run ends on
    request."""
    run, a, b, ports = two_boards
    b.header()
    together((a, b), 0, 1_000)
    drained(ports[1])
    b.__exit__()
    a.end()
    run.until_parts(38)
    until_silence_is_reported(run, 1, ports[1])
    run.signal(signal.SIGINT)
    found = run.found(3)
    incomplete = masked(found)
    assert set(range(10, 40)) <= set(incomplete) and min(incomplete) >= 9 and set(incomplete.values()) == {2}
    assert not losses(found)
    assert found["ledger/hits_in"].sum() == recording.hits(0) + recording.hits(1, 0, 1_000)
    assert_slices_as_replayed(recording, found)


@pytest.mark.parametrize("np", [None, 2])
def test_a_sender_that_is_stopped(tmp_path, recording, np):
    """The run continues without it, and with it once it continues."""
    ports = [free_port(), free_port()]
    options = [*PART_BY_PART, "--builders", "1", "--epoch-timeout", "300ms", "--stall-warning", "300ms"]
    with live(tmp_path, recording, map(udp, ports), *options, np=np).listening() as run, \
            send(recording.paths[:1], ports[0], "--speed", "0.005"), \
            send(recording.paths[1:], ports[1], "--speed", "0.005") as stopped:  # 8 s
        run.until_parts(4)
        with held(stopped.process.pid):
            until_silence_is_reported(run, 1, ports[1], warnings_of(run, 1, ports[1]))
            run.until_parts(len(parts(tmp_path)) + 8)
        stopped.wait(0)
        found = run.found(3)
    incomplete = masked(found)
    assert 0 not in incomplete and set(incomplete.values()) == {2}
    assert set(losses(found)) == {"late"}
    assert found["ledger/hits_in"].sum() == recording.sent()
    assert_slices_as_replayed(recording, found)


def test_a_sender_that_is_killed_and_comes_back(tmp_path, recording):
    """It returns as another session: a restarted stream, whose times have been built already. Nothing is counted
    twice."""
    ports = [free_port(), free_port()]
    with live(tmp_path, recording, map(udp, ports), *PART_BY_PART, *PATIENT).listening() as run, \
            Board(recording.files[0], ports[0]) as a, Board(recording.files[1], ports[1]) as b, \
            Board(recording.files[1], ports[1], session=2) as again:
        a.header()
        b.header()
        together((a, b), 0, 1_000)
        run.until_parts(8)
        again.header()
        again.skip_to(1_000)
        together((a, again), 1_000, 4_000)
        a.end()
        again.end()
        run.process.wait(60)
        found = merged(tmp_path)
    assert run.process.returncode in (0, 3)
    assert len(numpy.unique(found["events/time"])) == len(found["events/time"])
    assert sorted(event_keys(found)) == sorted(event_keys(recording.replay))
    assert found["ledger/hits_in_events"].sum() == recording.replay["ledger/hits_in_events"].sum()


# No source comes

@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, "--duration"])
def test_no_source_comes(tmp_path, recording, how):
    """The run reports which source it waits for, and ends on request: nothing was received."""
    port = free_port()
    more = ["--duration", "1500ms"] if how == "--duration" else []
    with live(tmp_path, recording, [udp(port)], "--stall-warning", "200ms", *more).listening() as run:
        until_silence_is_reported(run, 0, port)
        if not more:
            run.ranks()
            run.signal(how)
        found = run.found(3, timeout=20)
        assert len(lines_with(run.text(), "nothing received")) == 1
    assert found["ledger/hits_in"].sum() == 0 and len(found["events/time"]) == 0


# A run that cannot keep up

BUFFER = 8 << 20


@pytest.fixture(scope="module")
def heavy(tmp_path_factory):
    """Some 150 MB in one stream."""
    return Recording(tmp_path_factory.mktemp("heavy"), "gap:20ns,8", 1000, sources=1, rate=10_000, timing="poisson", hits=10,
                     width="50ns", noise=2_000_000, payload=30, duration="500ms", seed=8)


@pytest.mark.parametrize("what", ["block", "drop"])
def test_a_builder_that_is_stopped(tmp_path, heavy, what):
    """Memory keeps its limit; the run drops data that do not fit, or leaves them to the network."""
    port = free_port()
    size = heavy.paths[0].stat().st_size
    with live(tmp_path, heavy, [udp(port)], *PATIENT, *PART_BY_PART, "--builders", "1", "--live-buffer", BUFFER,
              "--on-congestion", what, np=2).listening() as run, \
            send(heavy.paths, port, "--speed", "0", "--bandwidth", "100000000", "--session", "5") as sender:
        run.until_parts(3)
        with held(run.ranks()[1]):
            reported = sender.wait(0)
        until_it_hears_the_end(run, port, reported, session=5, epoch=50_000)
        found, report = run.found(3), run.report()
    print(f"{size / 1e6:.0f} MB, {report['peak_rss_bytes'] / 1e6:.0f} MB resident, {losses(found)}")
    assert size > 120e6 and report["peak_rss_bytes"] < 110e6
    assert found["ledger/hits_in"].sum() == heavy.replay["ledger/hits_in"].sum()
    assert_slices_as_replayed(heavy, found)
    assert masked(found) and set(masked(found).values()) == {1}
    if what == "drop":
        assert losses(found)["congested"] > 0 and set(losses(found)) <= {"congested", "lost"}
        assert counts_of(report, 0)["dead_time_ns"] > 0
    else:
        assert set(losses(found)) == {"lost"}
        assert counts_of(report, 0)["dead_time_ns"] == 0


def test_an_mbs_server_waits_for_a_stopped_builder(tmp_path):
    """TCP loses nothing, however long it takes."""
    list_mode_file(tmp_path / "big.lmd", "lmd", 100_000)  # 100 MB
    meaning = ["--define", "tag", "--filter", "prescale=100", "--builders", "1"]
    expected = Run(tmp_path / "file", [f"lmd:{tmp_path}/big.lmd"], *meaning)
    with Serving(tmp_path, tmp_path / "big.lmd", "--once") as server, \
            LiveRun(tmp_path, [f"mbs://{HOST}:{server.port}/transport"], *meaning, *PATIENT, *PART_BY_PART,
                    "--live-buffer", BUFFER, np=2) as run:
        run.until_parts(1)
        with held(run.ranks()[1]):
            until_stuck(server.port)
        found, report = run.found(0), run.report()
    assert report["peak_rss_bytes"] < 100e6
    assert_same(found, datasets(expected.merged))


def test_servers_fill_no_more_than_the_limit(tmp_path):
    """While a builder is stopped, memory grows with --live-buffer, and by no more."""
    list_mode_file(tmp_path / "big.lmd", "lmd", 100_000)  # 100 MB
    meaning = ["--define", "tag", "--filter", "prescale=100", "--builders", "1", "--epoch", "100ns", "--epochs-per-slice", "10"]
    peak = {}
    for size in (4, 36):
        with Serving(tmp_path, tmp_path / "big.lmd", "--once") as a, Serving(tmp_path, tmp_path / "big.lmd", "--once") as b, \
                LiveRun(tmp_path / str(size), [f"mbs://{HOST}:{server.port}/transport" for server in (a, b)], *meaning, *PATIENT,
                        *PART_BY_PART, "--live-buffer", f"{size}MiB", np=3) as run:
            run.until_parts(1)
            with held(run.ranks()[2]):  # each source is on a separate rank
                for server in (a, b):
                    until_stuck(server.port)
            run.wait(0)
            peak[size] = run.report()["peak_rss_bytes"]
    print({size: f"{bytes_ / 1e6:.0f} MB" for size, bytes_ in peak.items()})
    assert peak[36] < peak[4] + (32 << 20) * 1.15 + 8e6, peak


def until_stuck(port):
    """Bytes wait in the server's connections, and their number stays constant for a while. A list of all sockets that
    is read while connections open and close may lack one, or have it twice."""
    waiting, since = {}, time.monotonic()

    def stuck():
        nonlocal waiting, since
        now = waiting | {one.peer_port: one.to_send for one in sockets("tcp", port) if one.state == "01"}
        if now != waiting:
            waiting, since = now, time.monotonic()
        return sum(waiting.values()) > 0 and time.monotonic() - since > 0.3
    until(stuck, "a server that cannot send", so_far=lambda: f"bytes that wait, by the port of the receiver: {waiting}")


# Clean ends

def assert_ended_in_good_order(recording, found, least):
    """A part of the replay from its beginning: all slices but the last equal the replay's."""
    assert not masked(found) and not losses(found)
    assert not found["events/flags"].any()
    got, expected = rows(found), rows(recording.replay)
    assert least <= len(got) < len(expected), "all or nothing of the recording"
    numbers = sorted(got)
    assert numbers == list(range(len(got)))
    assert all(got[n] == expected[n] for n in numbers[:-2])
    keys, events = event_keys(recording.replay), sorted(event_keys(found))
    assert events[:-1] == sorted(keys)[:len(events) - 1], "an event that is not the replay's, or not its turn"


@pytest.mark.parametrize("how, np, rank", [(signal.SIGINT, None, 0), (signal.SIGTERM, 2, 1), (signal.SIGINT, 3, 2),
                                           ("--duration", None, 0), ("--duration", 2, 0)])
def test_ends_in_good_order(tmp_path, recording, how, np, rank):
    port = free_port()
    more = ["--duration", "3s"] if how == "--duration" else []  # enough for the sender to start
    with live(tmp_path, recording, [udp(port, sources="0,1")], *PATIENT, *PART_BY_PART, "--builders", "1", *more,
              np=np).listening() as run, send(recording.paths, port, "--speed", "0.005"):  # 8 s
        if not more:
            run.until_parts(5)
            run.send(how, rank)
        found = run.found(0, timeout=20)
        assert run.report()["exit_code"] == 0
    assert_ended_in_good_order(recording, found, 1 if more else 5)


def heard(port):
    """Returns once a board has sent data to this port; no run receives them."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as instead:
        instead.bind((HOST, port))
        instead.settimeout(60)
        while FIELDS.unpack_from(instead.recv(1 << 16), 8)[1] != DATA:
            pass


def test_stopped_and_resumed(tmp_path, recording):
    """The sources continue meanwhile. Data that they send while no run listens are in no slice of the run, or reported
    missing."""
    port = free_port()
    options = [*PART_BY_PART, *PATIENT, "--builders", "1"]
    with contextlib.ExitStack() as stack:
        with live(tmp_path, recording, [udp(port, sources="0,1")], *options, np=2).listening() as run:
            # Unlike a speed, which catches up by the clock, a bandwidth makes a held sender continue from where it was.
            size = sum(path.stat().st_size for path in recording.paths)
            sender = stack.enter_context(send(recording.paths, port, "--speed", "0", "--bandwidth", size // 4))
            run.until_parts(5)
            with held(sender.process.pid):
                run.send(signal.SIGUSR1, 1)
                run.wait(STOPPED)
        before = {path.name: path.stat().st_mtime_ns for path in parts(tmp_path)}
        sender.until_reported("nobody listens")
        heard(port)
        with held(sender.process.pid):
            assert sender.process.poll() is None, sender.text()
            run = stack.enter_context(live(tmp_path, recording, [udp(port, sources="0,1")], *options, "--resume", np=2))
            run.listening()
        found = run.found(3)
    assert {path.name: path.stat().st_mtime_ns for path in parts(tmp_path) if path.name in before} == before
    assert_slices_as_replayed(recording, found)
    complete = sorted(rows(found).keys() - masked(found))
    assert complete[:4] == [0, 1, 2, 3] and complete[-1] == 39, complete
    assert len(numpy.unique(found["events/time"])) == len(found["events/time"])
    assert losses(found)["lost"] > 0 and found["ledger/hits_in"].sum() == recording.sent()


# Replay in a loop

@pytest.mark.parametrize("np", [None, 2, 3])
def test_loop(tmp_path, recording, np):
    """Three passes are equal, each shifted by the same whole number of epochs."""
    run = Run(tmp_path, recording.uris, *recording.meaning, "--loop", "3", np=np)
    assert_balanced(ledger_of(datasets(run.merged)))
    found, once = datasets(run.merged), recording.replay
    events, hits = len(once["events/time"]), len(once["hits/time"])
    assert len(found["events/time"]) == 3 * events and len(found["hits/time"]) == 3 * hits
    last = max(int(file.buffers[-1].end_epoch) for file in recording.files) * EPOCH
    step = int(found["events/time"][events] - found["events/time"][0])
    assert step % EPOCH == 0 and step >= last
    for k in range(3):
        shift, event, hit = numpy.uint64(k * step), slice(k * events, (k + 1) * events), slice(k * hits, (k + 1) * hits)
        assert numpy.array_equal(found["events/time"][event], once["events/time"] + shift)
        assert numpy.array_equal(found["hits/time"][hit], once["hits/time"] + shift)
        for name in ("events/duration", "events/n_hits", "events/flags", "events/sources_missing"):
            assert numpy.array_equal(found[name][event], once[name]), name
        for name in ("hits/channel", "hits/source"):
            assert numpy.array_equal(found[name][hit], once[name]), name
    assert found["ledger/hits_in"].sum() == 3 * recording.sent()


def test_once_around_is_the_recording(tmp_path, recording):
    assert_same(datasets(Run(tmp_path, recording.uris, *recording.meaning, "--loop", "1").merged), recording.replay)


# Records

@pytest.mark.parametrize("np", [None, 2])
def test_a_record_gives_the_same(tmp_path, recording, np):
    port = free_port()
    with live(tmp_path, recording, [udp(port, sources="0,1")], *PATIENT, "--record", "raw", np=np).listening() as run, \
            send(recording.paths, port) as sender:
        sender.wait(0)
        assert_same(run.found(0), recording.replay)
    raw = sorted((tmp_path / "raw").glob("*"))
    assert [path.name for path in raw] == ["source-0000.epochs", "source-0001.epochs"]
    for path, file in zip(raw, recording.files):
        recorded = read_epochs_file(path)
        assert (recorded.tick_ps, recorded.epoch_ticks, recorded.payload_table) == (file.tick_ps, file.epoch_ticks,
                                                                                    file.payload_table)
        kept, sent = hits_of_file(recorded), hits_of_file(file)
        assert all(numpy.array_equal(getattr(kept, name), getattr(sent, name)) for name in ("time", "channel", "payload"))
    again = Run(tmp_path / "again", [f"file:{path}" for path in raw], *recording.meaning)
    assert_same(datasets(again.merged), recording.replay)


def test_a_record_of_a_run_with_losses(tmp_path, recording):
    """Lost data stay lost; late data are in the record, whose slices are therefore complete. No event differs."""
    ports = [free_port(), free_port()]
    with live(tmp_path, recording, map(udp, ports), *PART_BY_PART, "--epoch-timeout", "500ms", "--record",
              "raw").listening() as run, Board(recording.files[0], ports[0]) as a, Board(recording.files[1], ports[1]) as b:
        a.header()
        b.header()
        together((a, b), 0, 1_000)
        drained(ports[0])
        drained(ports[1])
        b.skip_to(1_200)  # lost
        together((a, b), 1_200, 2_000)
        a.to(3_000)
        run.until_parts(28)
        b.to(3_000)  # late
        together((a, b), 3_000, 4_000)
        a.end()
        b.end()
        found = run.found(3)
    assert set(losses(found)) == {"lost", "late"}
    assert losses(found)["lost"] == recording.hits(1, 1_000, 1_200)
    again = Run(tmp_path / "again", [f"file:{path}" for path in sorted((tmp_path / "raw").glob("*"))], *recording.meaning,
                code=3)
    replayed = datasets(again.merged)
    assert_balanced(ledger_of(replayed))
    assert_slices_as_replayed(recording, found)
    assert_slices_as_replayed(recording, replayed)
    complete = rows(found).keys() - masked(found)
    assert len(complete) >= 15
    assert all(rows(replayed)[number] == rows(found)[number] for number in complete)
    live_events = {key for key in event_keys(found, INCOMPLETE)}
    assert live_events <= set(event_keys(replayed))


# All kinds at once

@pytest.fixture(scope="module")
def mixture(tmp_path_factory):
    """Four streams; the first is also available as triggered data with White Rabbit stamps."""
    folder = tmp_path_factory.mktemp("mixture")
    four = Recording(folder, "gap:25ns,4", 100, **{**STREAMS, "sources": 4})
    hits = hits_of_file(four.files[0])
    events = [Event(number, [Subevent(channel & 0xFFFF, white_rabbit(time))])
              for number, (time, channel) in enumerate(zip(hits.time.tolist(), hits.channel.tolist()), 1)]
    (folder / "triggered.lmd").write_bytes(classic_file(events, 8192))
    uris = [f"lmd:{folder}/triggered.lmd?time=wr", *four.uris[1:]]
    expected = Run(folder / "files", uris, *four.meaning)
    return four, folder / "triggered.lmd", datasets(expected.merged)


@pytest.mark.parametrize("np, protocol", [(None, "transport"), (2, "stream"), (3, "transport")])
def test_server_boards_and_file_in_one_run(tmp_path, mixture, np, protocol):
    four, lmd, expected = mixture
    port = free_port()
    with Serving(tmp_path, f"lmd:{lmd}?time=wr", "--once", "--speed", "0.1", protocol=protocol) as server:
        uris = [f"mbs://{HOST}:{server.port}/{protocol}?time=wr", udp(port, sources="1,2"), four.uris[3]]
        with live(tmp_path, four, uris, *PATIENT, np=np).listening() as run, \
                send(four.paths[1:3], port, "--speed", "0.1", "--ids", "1,2") as sender:
            sender.wait(0)
            assert_same(run.found(0), expected)


def test_short_slices_for_low_latency(tmp_path, recording):
    """--flush-after gives other slices, but the same events."""
    port = free_port()
    with live(tmp_path, recording, [udp(port, sources="0,1")], *PATIENT, "--flush-after", "200us",
              np=2).listening() as run, \
            send(recording.paths, port, "--speed", "0.5") as sender:
        sender.wait(0)
        found = run.found(0)
    for name, column in recording.replay.items():
        if not name.startswith("ledger/") and name != "events/slice":
            assert numpy.array_equal(found[name], column), name
    assert len(found["ledger/slice"]) > len(recording.replay["ledger/slice"])


# Mistakes

LIVE, FILE = "udp://127.0.0.1:{port}", "{file}"
MISTAKES = {
    "no port": (["udp://127.0.0.1"], [], "port"),
    "port of the moon": (["udp://127.0.0.1:99999"], [], "99999"),
    "no such address": (["udp://300.1.2.3:{port}"], [], "300.1.2.3"),
    "another's address": (["udp://192.0.2.1:{port}"], [], "192.0.2.1"),
    "open bracket": (["udp://[::1:{port}"], [], "[::1"),
    "unknown key": ([LIVE + "?colour=red"], [], "colour"),
    "no number": ([LIVE + "?sources=3,x"], [], "sources"),
    "a board twice": ([LIVE + "?sources=3,3"], [], "3"),
    "no boards": ([LIVE + "?sources="], [], "sources"),
    "a port twice": ([LIVE, LIVE], [], "{port}"),
    "no protocol": (["mbs://127.0.0.1:{port}"], [], "transport"),
    "no such protocol": (["mbs://127.0.0.1:{port}/teleport"], [], "teleport"),
    "no host": (["mbs:///transport"], [], "mbs:"),
    "unknown key of mbs": (["mbs://127.0.0.1:{port}/transport?colour=red"], [], "colour"),
    "nobody serves": (["mbs://127.0.0.1:{port}/transport"], [], "{port}"),
    "a loop of what lives": ([LIVE], ["--loop", "2"], "--loop"),
    "no loop": ([FILE], ["--loop", "0"], "--loop"),
    "neither block nor drop": ([LIVE], ["--on-congestion", "maybe"], "maybe"),
    "a timeout without unit": ([LIVE], ["--epoch-timeout", "soon"], "--epoch-timeout"),
    "no time": ([LIVE], ["--duration", "long"], "--duration"),
    "no flush": ([LIVE], ["--flush-after", "soon"], "--flush-after"),
    "no bytes": ([LIVE], ["--live-buffer", "many"], "--live-buffer"),
    "no reconnect": ([LIVE], ["--reconnect", "never"], "--reconnect"),
    "nowhere to record": ([LIVE], ["--record", "{file}/raw"], "raw"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(tmp_path, recording, name):
    uris, options, word = MISTAKES[name]
    known = {"port": free_port(), "file": recording.paths[0]}
    sources = [text for uri in uris for text in ("--source", uri.format(**known))]
    done = eventloom("run", *sources, *recording.meaning, *(text.format(**known) for text in options), "--output",
                     tmp_path / "run.h5", code=2, timeout=20)
    assert len(done.stderr.splitlines()) == 1 and word.format(**known) in done.stderr, done.stderr
    assert done.stdout == "" and not list(tmp_path.iterdir())


@pytest.mark.parametrize("np", [None, 2])
def test_port_in_use(tmp_path, recording, np):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind((HOST, 0))
        port = taken.getsockname()[1]
        done = eventloom("run", "--source", udp(port), *recording.meaning, "--output", tmp_path / "run.h5", np=np, code=2,
                         timeout=20)
    assert len([line for line in done.stderr.splitlines() if str(port) in line]) == 1, done.stderr
    assert not list(tmp_path.iterdir())


def test_listens_on_loopback_only(tmp_path, recording):
    """Unless it is given another address."""
    port = free_port()
    with live(tmp_path, recording, [f"udp://:{port}"]).listening():
        assert [one.address for one in sockets("udp", port)] == ["0100007F"]
