"""Connections that are not MBS clients: those of Open MPI to X displays 0 to 9, at TCP ports 6000 to 6009, and others.

They take nothing from the clients of `eventloom serve` and of a tap, or both sides say what is missing."""

import contextlib
import re
import select
import socket
import struct
import threading
from pathlib import Path

import pytest

from interrupted import Started, until
from lmd_reference import Event, Subevent, encode, flat_file
from mbs import HANDSHAKE_BYTES, LOOPBACK, PATIENCE, Layout, Server, Serving, sends
from program import eventloom
from results import read_ledger
from tapped import Tapped, events_in
from test_mbs import lmd_file, made, numbers, url
from test_tap import STAMPED, stamped

PROTOCOLS = ["transport", "stream"]
X11_SETUPS = {"little": b"l\0" + struct.pack("<5H", 11, 0, 0, 0, 0), "big": b"B\0" + struct.pack(">5H", 11, 0, 0, 0, 0),
              "cookie": b"l\0" + struct.pack("<5H", 11, 0, 18, 16, 0) + b"MIT-MAGIC-COOKIE-1\0\0" + bytes(16)}
SAYINGS = {**X11_SETUPS, "nothing": b"", "half a request": b"GETEVT", "http": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"}


def connection(port):
    made = socket.create_connection((LOOPBACK, port), timeout=PATIENCE)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def probe(port, saying, reads=False):
    """Connects, sends that, and closes, after reading what has arrived or without reading."""
    with connection(port) as made:
        with contextlib.suppress(ConnectionError):
            made.sendall(saying)
            if reads:
                made.recv(1 << 16)


@pytest.fixture
def recording(tmp_path):
    """Small enough for the system's buffers: all of it would be sent to a client that does not read."""
    return lmd_file(tmp_path, made(1000))


# serve


@pytest.mark.parametrize("reads", [False, True], ids=["does not read", "reads"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("saying", SAYINGS.values(), ids=SAYINGS)
def test_a_client_gets_everything_after_a_probe(tmp_path, recording, protocol, saying, reads):
    with Serving(tmp_path, recording, "--once", protocol=protocol) as serving:
        for _ in range(3):
            probe(serving.port, saying, reads)
        with serving.client() as client:
            assert numbers(client.events()) == list(range(1, 1001))
        said = serving.ended()
    assert (said.events, said.sent_events, said.clients) == (1000, 1000, 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("saying", SAYINGS.values(), ids=SAYINGS)
def test_a_client_gets_everything_beside_probes(tmp_path, protocol, saying):
    path = lmd_file(tmp_path, made(2000, words=1000))
    with Serving(tmp_path, path, "--once", protocol=protocol) as serving:
        before = connection(serving.port)  # sends nothing until there is a client
        with serving.client(receive_bytes=1 << 16) as client, before:
            events = client.events(at_most=1)
            probe(serving.port, saying)
            with contextlib.suppress(ConnectionError):
                before.sendall(saying)
            before.close()
            events += client.events()
            assert numbers(events) == list(range(1, 2001))
        said = serving.ended(code=None)
    assert said.events == 2000


@pytest.mark.parametrize("pace", [(), ("--rate", "100000")])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_was_sent_to_a_probe_that_took_its_time_is_sent_again(tmp_path, recording, protocol, pace):
    """Like a client that the system has stopped between its connection and its first words: everything was sent to
    it."""
    with Serving(tmp_path, recording, *pace, "--once", protocol=protocol) as serving:
        with serving.client() as slow:
            slow.ask_ahead()
            assert slow.group()
            slow.say(X11_SETUPS["little"])
            assert slow.closed_by_server()
        with serving.client() as client:
            groups = list(client.groups())
            assert groups[0][0].number == 1
            assert numbers(client.events_of([buffer for group in groups for buffer in group])) == list(range(1, 1001))
        said = serving.ended()
    assert (said.events, said.sent_events, said.clients, said.refused) == (1000, 1000, 1, 1)


def test_what_the_last_client_was_not_sent_waits_for_the_next(tmp_path):
    path = lmd_file(tmp_path, made(2000, words=1000))
    with Serving(tmp_path, path, "--client-timeout", "1s", "--once") as serving:
        with serving.client(receive_bytes=1 << 12) as first:  # reads one buffer; the server's system holds more
            seen = first.events(at_most=1)
            until(lambda: "was idle for too long" in serving.text(), "it is disconnected", so_far=serving.text)
        with serving.client() as second:
            rest = second.events()
        said = serving.ended(code=3)
    assert (said.timed_out, said.sent_events) == (1, 2000) and len(seen) < 2000 - len(rest)
    assert numbers(rest) == list(range(2001 - len(rest), 2001))


def test_a_silent_client_that_leaves_is_reported_on_both_sides(tmp_path, recording):
    """A silent connection may be a client: data it was sent cannot be distinguished from data it has read."""
    with Serving(tmp_path, recording, "--rate", "20000", "--buffer-size", "1KiB") as serving:
        with connection(serving.port) as silent:
            while len(silent.recv(1 << 16, socket.MSG_PEEK)) <= HANDSHAKE_BYTES:
                pass
        done = eventloom("run", f"mbs://{LOOPBACK}:{serving.port}/transport", "--define", "tag", "--output", tmp_path / "run.h5")
        serving.process.terminate()
        said = serving.ended(code=3)
        text = serving.text()
    kept = int(read_ledger(tmp_path / "run.h5")["hits_in"].sum())
    assert 0 < kept < 1000 and said.events == 1000
    assert re.search(r"has left data unread: of \d+ events that were sent to it alone, some may be lost\n", text)
    assert re.search(rf"joined a server that was sending already, at event number {1001 - kept} in its buffer \d+", done.stderr)


def test_a_run_under_mpirun_gets_everything_from_the_default_port(tmp_path, recording):
    """mpirun itself looks for displays, too."""
    with Started(tmp_path / "server", "serve", recording, "--once") as serving:
        until(lambda: "serving" in serving.output.read_text() or serving.process.poll() is not None, "it serves")
        if "in use" in serving.text():
            pytest.skip("port 6000 is in use")
        eventloom("run", url(6000), "--define", "tag", "--output", tmp_path / "run.h5", np=2)
        serving.wait(0)
    assert read_ledger(tmp_path / "run.h5")["hits_in"].sum() == 1000


@contextlib.contextmanager
def displays():
    """Listens where X displays would, if these ports are free; yields the list of the connections so far."""
    with contextlib.ExitStack() as stack:
        listeners, found, ending = [], [], threading.Event()
        for port in range(6000, 6010):
            with contextlib.suppress(OSError):
                listeners.append(stack.enter_context(socket.create_server((LOOPBACK, port))))

        def accept():
            while not ending.is_set():
                for listener in select.select(listeners, [], [], 0.05)[0]:
                    with listener.accept()[0]:  # closes at once
                        found.append(listener.getsockname()[1])
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield found
        ending.set()
        thread.join(PATIENCE)


@pytest.mark.skipif(not list(Path("/usr/lib").glob("*/hwloc/hwloc_gl.so")), reason="hwloc without its plugin for X displays")
@pytest.mark.parametrize("users", [None, ""], ids=["by default", "with components that the user has chosen"])
def test_ranks_look_for_displays_only_if_the_user_says_so(tmp_path, monkeypatch, users):
    monkeypatch.delenv("HWLOC_COMPONENTS", raising=False)
    if users is not None:
        monkeypatch.setenv("HWLOC_COMPONENTS", users)

    def looked(number):
        with displays() as found:
            eventloom("run", "gen:poisson?rate=1e5&duration=1ms", "--define", "gap:1us,2", "--output", tmp_path / f"{number}.h5")
        return bool(found)
    # Other programs of MPI on this machine may occasionally look, too.
    assert all(looked(number) for number in range(5)) == (users is not None)


# Taps


@pytest.mark.parametrize("kind", PROTOCOLS)
@pytest.mark.parametrize("saying", SAYINGS.values(), ids=SAYINGS)
def test_a_tap_does_not_count_probes(tmp_path, kind, saying):
    path = tmp_path / "stamped.lmd"
    path.write_bytes(flat_file(stamped(500)))
    with Tapped(tmp_path, [f"lmd:{path}?time=wr"], *STAMPED, kind=kind) as run:
        port = run.ports()[0]
        for reads in (False, True):
            probe(port, saying, reads)
        with run.client() as client:
            probe(port, saying)
            run.go(clients=1)
            found = client.events()
        said = run.ended()
    assert found == [encode(event) for event in stamped(500)]
    assert (said["tap_events"], said["tap_events_dropped"]) == (500, 0)


def test_a_late_client_of_a_tap_is_recognised_by_the_number_of_its_first_buffer(tmp_path):
    path = tmp_path / "stamped.lmd"
    path.write_bytes(flat_file(stamped(2000)))
    with Tapped(tmp_path, [f"lmd:{path}?time=wr"], *STAMPED) as run:
        run.go(speed=0.001)
        run.until_status(lambda status: run.counter("events", status) > 20, "events before the client")
        with run.client() as client:
            first = client.group()
            run.go(clients=1)
            client.events()
        run.ended()
    assert first[0].number > 1 and events_in(client.events_of(first))[0].number > 20


# What a source says


@pytest.mark.parametrize("native", [False, True], ids=["variable", "native"])
@pytest.mark.parametrize("first", [1, 8])
def test_a_source_that_joined_late_says_so(tmp_path, first, native):
    """Servers of DABC do not number their buffers: then nothing is known."""
    layout = Layout(native=native, buffer_bytes=4096)
    groups = layout.buffers([Event(n, [Subevent(1, [n])]) for n in range(720, 760)], first)
    with Server(sends(layout, groups)) as server:
        done = eventloom("run", url(server.port), "--define", "tag", "--output", tmp_path / "run.h5")
    reported = f"joined a server that was sending already, at event number 720 in its buffer {first}: {first - 1} earlier buffers"
    assert (reported in done.stderr) == (native and first > 1)
