"""Data that an MBS server has sent by the planned end of a run are built, recorded and converted, however few they are
and whoever ended the run; ports to which only strangers send."""

import signal
import socket
import threading
import time

import numpy
import pytest

from epochs_file import hits_of_file, read_epochs_file
from interrupted import STOPPED, Started, lines_with, until
from live import HOST, Board, LiveRun, Recording, counts_of, drained, free_port, losses, masked, merged, sockets, udp
from lmd_reference import Event, Subevent, white_rabbit
from mbs import Layout, Server, sends

STAMP = 10**15  # ns, of event 0
STEP = 2_000_000  # ns, from event to event: two slices


def numbered(first, count):
    return [Event(number, [Subevent(1, [number, 7])]) for number in range(first, first + count)]


def stamped(first, count):
    return [Event(number, [Subevent(1, white_rabbit(STAMP + STEP * number))]) for number in range(first, first + count)]


# By name: the events, keys of the URI, what defines events.
KINDS = {"numbered": (numbered, "", "tag"), "stamped": (stamped, "?time=wr", "gap:1us,1")}


def quiet_after(layout, events, rate=None, sent=None):
    """A behaviour: sends these events at once, or one by one at a rate in Hz, then nothing. `sent` is set when all have
    been sent."""
    def behave(connection):
        connection.send(layout.handshake())
        groups = layout.buffers(events) if rate is None else [
            group for number, event in enumerate(events) for group in layout.buffers([event], 1 + number)]
        for group in groups:
            connection.send(b"".join(group))
            if rate:
                time.sleep(1 / rate)
        if sent is not None:
            sent.append(len(events))
        connection.wait_for_client()
    return behave


ESTABLISHED = "01"


def until_received(server, sent):
    """Waits until the run has read everything that the server has sent."""
    def received():
        own, peers = ([one for one in sockets("tcp", server.port, of_peers) if one.state == ESTABLISHED]
                      for of_peers in (False, True))
        return sent and peers and not any(one.to_send for one in own) and not any(one.to_read for one in peers)
    until(received, "all events with the run")


def expected_times(kind, count):
    return [STAMP + STEP * n if kind == "stamped" else n for n in range(1, 1 + count)]


def assert_all_built(found, kind, count):
    assert numpy.sort(found["events/time"]).tolist() == expected_times(kind, count)
    assert found["ledger/hits_in"].sum() == count and not losses(found) and not masked(found)


@pytest.mark.parametrize("count, rate", [(1, None), (10, None), (60, 60), (1000, None)])
@pytest.mark.parametrize("how", ["--duration", signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("kind", KINDS)
def test_all_that_came_is_built(tmp_path, kind, how, count, rate):
    """The data are recorded, too."""
    make, keys, define = KINDS[kind]
    layout, sent = Layout(native=count == 10, buffer_bytes=16384), []
    more = ["--duration", "4s"] if how == "--duration" else []
    with Server(quiet_after(layout, make(1, count), rate, sent)) as server, \
            LiveRun(tmp_path, [f"mbs://{HOST}:{server.port}/transport{keys}"], "--define", define, "--record", "record",
                    "--flush-after", "100ms", *more) as run:
        until_received(server, sent)
        if not more:
            run.ranks()
            run.signal(how)
        found = run.found(0)
    assert_all_built(found, kind, count)
    hits = hits_of_file(read_epochs_file(tmp_path / "record" / "source-0000.epochs"))
    assert hits.time.tolist() == expected_times(kind, count)


@pytest.mark.parametrize("kind", KINDS)
def test_two_servers_and_two_ranks(tmp_path, kind):
    """One server has sent more than the other: events that both have are built."""
    make, keys, define = KINDS[kind]
    sent = []
    with Server(quiet_after(Layout(), make(1, 40), None, sent)) as a, Server(quiet_after(Layout(), make(1, 7), None, sent)) as b, \
            LiveRun(tmp_path, [f"mbs://{HOST}:{one.port}/transport{keys}" for one in (a, b)], "--define", define, np=2) as run:
        until(lambda: len(sent) == 2, "all events sent")
        until_received(a, sent)
        until_received(b, sent)
        run.ranks()
        run.send(signal.SIGINT, 0)
        # 33 events lack the second server by their numbers; by their times only if it might have sent more.
        code = run.process.wait(60)
        assert code in ((3,) if kind == "numbered" else (0, 3)), run.text()
        found = run.found(code)
    assert bool(masked(found)) == (code == 3)
    assert found["ledger/hits_in"].sum() == 47 and not losses(found)
    assert sorted(set(found["events/time"].tolist())) == expected_times(kind, 40)


def test_flush_after_lets_a_slice_go_where_data_are_sparse(tmp_path):
    """After a second of silence, the last slice does not wait for the next event: one that comes for it nevertheless is
    late."""
    layout, sent, let_go = Layout(), [], threading.Event()

    def behave(connection):
        def send(events, number):
            connection.send(b"".join(part for group in layout.buffers(events, number) for part in group))

        connection.send(layout.handshake())
        send(stamped(1, 3), 1)
        let_go.wait(60)
        send([Event(4, [Subevent(1, white_rabbit(STAMP + 3 * STEP + 400_000))])], 2)
        send(stamped(5, 2), 3)
        sent.append(2)
        connection.wait_for_client()

    with Server(behave) as server, \
            LiveRun(tmp_path, [f"mbs://{HOST}:{server.port}/transport?time=wr"], "--define", "gap:1us,1",
                    "--flush-after", "50ms", "--segment-size", "1", "--builders", "1") as run:
        run.until_parts(3)
        let_go.set()
        until_received(server, sent)
        run.signal(signal.SIGINT)
        reported = run.wait(3)
    found = merged(tmp_path)
    assert numpy.sort(found["events/time"]).tolist() == [STAMP + STEP * n for n in (1, 2, 3, 5, 6)]
    assert losses(found) == {"late": 1}
    assert lines_with(reported, "was silent, and then sent hits of a slice that --flush-after had ended")


def test_stopped_and_resumed(tmp_path):
    """Stopped by SIGUSR1: earlier data are built before, later ones afterwards; stamps do not show what was missed in
    between."""
    sent, again = [], []
    first = quiet_after(Layout(), stamped(1, 30), None, sent)
    second = quiet_after(Layout(), stamped(41, 20), None, again)
    with Server(first, second) as server:
        uris, options = [f"mbs://{HOST}:{server.port}/transport?time=wr"], ["--define", "gap:1us,1"]
        with LiveRun(tmp_path, uris, *options) as run:
            until_received(server, sent)
            run.ranks()
            run.signal(signal.SIGUSR1)
            run.wait(STOPPED)
        with LiveRun(tmp_path, uris, *options, "--resume") as run:
            until_received(server, again)
            run.ranks()
            run.signal(signal.SIGINT)
            found, report = run.found(3), run.report()
    assert counts_of(report, 0)["unknown_losses"] == 1 and not losses(found)
    expected = [STAMP + STEP * n for n in (*range(1, 31), *range(41, 61))]
    assert numpy.sort(found["events/time"]).tolist() == expected and found["ledger/hits_in"].sum() == 50


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_came_is_converted(tmp_path, kind):
    make, keys, _ = KINDS[kind]
    sent = []
    with Server(quiet_after(Layout(), make(1, 25), None, sent)) as server, \
            Started(tmp_path, "convert", f"mbs://{HOST}:{server.port}/transport{keys}", "--output", "made.epochs") as started:
        until_received(server, sent)
        until(lambda: started.ranks(), "a process that heeds signals")
        started.process.send_signal(signal.SIGINT)
        started.wait(0)
    assert hits_of_file(read_epochs_file(tmp_path / "made.epochs")).time.tolist() == expected_times(kind, 25)


# Ports to which only strangers send

STREAMS = {"sources": 2, "rate": 20_000, "timing": "poisson", "hits": 8, "width": "50ns", "noise": 200_000,
           "duration": "20ms", "seed": 5, "epochs-per-buffer": 10}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording(tmp_path_factory.mktemp("recording"), "gap:25ns,4", 100, **STREAMS)


def ended(run):
    run.ranks()
    run.signal(signal.SIGINT)
    return run.found(3, timeout=30)


NOBODY = {"udp": "0 that are", "trb": "0 datagrams that are damaged", "transport": "not even an empty buffer",
          "stream": "not even an empty buffer"}


@pytest.mark.parametrize("kind, goes", [*((kind, False) for kind in NOBODY), ("transport", True), ("stream", True)])
def test_sources_that_never_send(tmp_path, kind, goes):
    """A server may also close the connection after its handshake."""
    with Server(sends(Layout(), []) if goes else quiet_after(Layout(), [])) as server:
        uri = {"udp": udp(free_port()), "trb": f"trb://:{free_port()}"}.get(kind, f"mbs://{HOST}:{server.port}/{kind}")
        define = "gap:1us,1" if kind == "udp" else "tag"
        with LiveRun(tmp_path, [uri], "--define", define, "--duration", "300ms") as run:
            found = run.found(3, timeout=30)
            reported = [line for line in lines_with(run.text(), "error") if "nothing received" in line]
    assert len(reported) == 1 and NOBODY[kind] in reported[0], reported
    assert found["ledger/hits_in"].sum() == 0


@pytest.mark.parametrize("option, code", [("", 3), ("?optional", 0)])
def test_a_trb_port_to_which_strangers_send(tmp_path, option, code):
    port = free_port()
    with LiveRun(tmp_path, [f"trb://:{port}{option}"], "--define", "tag", "--duration", "1s") as run, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        until(lambda: sockets("udp", port), "the port bound", so_far=run.text)
        for _ in range(20):
            stranger.sendto(b"GET / HTTP/1.1", (HOST, port))
        run.wait(code, timeout=30)
        assert ("nothing received: 20 datagrams" in run.text()) == (code == 3), run.text()


def test_a_port_to_which_strangers_send(tmp_path, recording):
    port = free_port()
    with LiveRun(tmp_path, [udp(port)], *recording.meaning).listening() as run, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for _ in range(20):
            stranger.sendto(b"GET / HTTP/1.1", (HOST, port))
        drained(port)
        found = ended(run)
        reported = [line for line in lines_with(run.text(), "error") if "nothing received" in line]
        assert len(reported) == 1 and f"{HOST}:{port}" in reported[0] and "20 that are" in reported[0], run.text()
        assert counts_of(run.report(), 0)["malformed"] == 20
    assert found["ledger/hits_in"].sum() == 0


def test_boards_that_were_never_heard_are_named(tmp_path, recording):
    """Board 1 sends, 7 and 9 do not, and another one, which was not requested, does."""
    port = free_port()
    with LiveRun(tmp_path, [udp(port, sources="7,9")], *recording.meaning).listening() as run, \
            Board(recording.files[1], port) as other:
        other.header()
        other.end()
        drained(port)
        found = ended(run)
        reported = [line for line in lines_with(run.text(), "error") if "nothing received" in line]
        assert [f"board {n}" in line for n, line in zip((7, 9), reported)] == [True, True], run.text()
        assert counts_of(run.report(), 0)["foreign"] > 0
    assert found["ledger/hits_in"].sum() == 0


def test_a_board_that_sends_on_behind_the_end_of_the_run_is_no_loss(tmp_path, recording):
    port = free_port()
    with LiveRun(tmp_path, [udp(port, sources="0,1")], *recording.meaning).listening() as run, \
            Board(recording.files[0], port) as a, Board(recording.files[1], port) as b:
        for board in (a, b):
            board.header()
            board.to(500)
        run.ranks()
        run.signal(signal.SIGINT)
        for epoch in range(500, 2_000, 10):
            for board in (a, b):
                if run.process.poll() is None:
                    try:
                        board.to(epoch)
                    except ConnectionRefusedError:
                        pass
        run.wait(0)
        assert "after its end" not in run.text()
