"""run --tap: events as they are built, read by an independent MBS client, compared with the run's output."""

import contextlib
import os
import re
import signal
import socket
import struct
import threading

import pytest

from event_files import assert_events, hits_of_events, read_lmd_files
from interrupted import STOPPED, Started
from lmd_reference import Event, Subevent, encode, flat_file, read_lmd, white_rabbit
from mbs import PATIENCE, Client, Layout, Server, request
from monitored import HOST
from program import DATA, eventloom, generate, only_line
from tapped import Tapped, events_in, hits_in
from test_event_files import merge_to
from test_mbs import in_background, numbers

KINDS = ["stream", "transport"]
LMD = DATA / "lmd" / "comb_0002.lmd"
GAP = ["--define", "gap:50ns,3", "--epochs-per-slice", 10]
STAMPED = ["--define", "gap:1ns,1", "--epochs-per-slice", 10]


def stamped(count, first=1, words=10):
    """Events 10 us apart."""
    return [Event(n, [Subevent(9, [*white_rabbit(10_000 * n), n, *range(words)])], n % 5) for n in range(first, first + count)]


@pytest.fixture(scope="module")
def triggered(tmp_path_factory):
    """Events as in an LMD file, and the file's URI."""
    events = stamped(2000)
    path = tmp_path_factory.mktemp("triggered") / "stamped.lmd"
    path.write_bytes(flat_file(events))
    return [encode(event) for event in events], f"lmd:{path}?time=wr"


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("streams") / "in", sources=3, rate=20_000, hits=6, width="50ns", noise=50_000,
                    duration="50ms", payload=2, seed=11)


@contextlib.contextmanager
def taken_port():
    """A port in use, below those that the system assigns to connections; its neighbours are free."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with contextlib.suppress(OSError), socket.create_server((HOST, port)):
            for beside in (port - 1, port + 1):
                socket.create_server((HOST, beside)).close()
            yield port
            return


def plain_run(folder, uris, *options):
    """The messages of a run without a tap."""
    return Merged(eventloom("run", *(word for uri in uris for word in ("--source", uri)), *options, "--output", folder / "plain.h5"),
                  folder / "plain.h5")


class Merged:
    """A finished run and its merged file."""

    def __init__(self, done, output):
        self.done, self.output, self.merged = done, output, output.with_suffix(".merged.h5")
        eventloom("merge", output, "--output", self.merged)


def by_first_hit(events):
    """The hits of each event without list-mode data, in time order."""
    return sorted(map(hits_in, events))


# What clients get


@pytest.mark.parametrize("kind", KINDS)
def test_events_of_lmd_sources_are_sent_as_they_were(tmp_path, triggered, kind):
    expected, uri = triggered
    with Tapped(tmp_path, [uri], *STAMPED, kind=kind) as run, run.client() as client:
        run.go(clients=1)
        found = client.events()
        said = run.ended()
    assert_events(found, expected)
    assert (said["tap_events"], said["tap_connections"], said["tap_clients"]) == (len(expected), 1, 0)
    assert said["tap_bytes"] > sum(map(len, expected)) and said["tap_buffers_dropped"] == said["tap_events_dropped"] == 0
    assert_events(events_in(found), read_lmd_files(merge_to(f"lmd:{tmp_path}/merged", tmp_path / "run.h5")))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("roles, np", [(("--builders", 3), 2), (("--builders", 2, "--filters", 2), 3)], ids=["builders", "filters"])
def test_each_writer_serves_its_events(tmp_path, streams, roles, np, kind):
    with Tapped(tmp_path, streams, *GAP, *roles, kind=kind, np=np) as run, contextlib.ExitStack() as clients:
        writers = len(run.ports())
        assert writers == roles[-1]
        reading = [in_background(clients.enter_context(run.client(writer)).events) for writer in range(writers)]
        run.go(clients=writers)
        found = [events_in(wait()) for wait in reading]
        said = run.ended()
    for events in found:
        assert [event.number for event in events] == list(range(1, len(events) + 1)) != []
        lists = [hits_in(event) for event in events]
        assert lists == sorted(lists), "events of a writer are in the order of time"
    expected = hits_of_events(Merged(None, tmp_path / "run.h5").merged)
    assert_events(by_first_hit(event for events in found for event in events), expected)
    assert said["tap_events"] == len(expected)


def test_only_events_that_filters_accept_are_sent(tmp_path, streams):
    with Tapped(tmp_path, streams, *GAP, "--filter", "n_hits>=6") as run, run.client() as client:
        run.go(clients=1)
        found = events_in(client.events())
        run.ended()
    assert found and all(len(hits_in(event)) >= 6 for event in found)
    assert_events([hits_in(event) for event in found], hits_of_events(Merged(None, tmp_path / "run.h5").merged))


def test_of_several_definitions_the_first_is_served(tmp_path, streams):
    definitions = ["--define", "close=gap:50ns,3", "--define", "pair=gap:50ns,2"]
    with Tapped(tmp_path, streams, *definitions) as run, run.client() as client:
        run.go(clients=1)
        found = events_in(client.events())
        run.ended()
    assert_events([hits_in(event) for event in found], hits_of_events(Merged(None, tmp_path / "run.close.h5").merged))


def test_eventloom_reads_it_as_any_server(tmp_path, triggered):
    with Tapped(tmp_path / "run", [triggered[1]], *STAMPED) as run:
        uri = f"mbs://{HOST}:{run.ports()[0]}/stream?time=wr"
        with Started(tmp_path / "again", "run", uri, *STAMPED, "--output", "again.h5") as again:
            run.go(clients=1)
            run.ended()
            again.wait(0)
    eventloom("compare", tmp_path / "run" / "run.h5", tmp_path / "again" / "again.h5")


def test_events_by_number_come_by_number(tmp_path):
    """Events of an acquisition that Eventloom reads live: its first events are available before the client."""
    layout, events, go = Layout(buffer_bytes=1 << 14), read_lmd(LMD).events, threading.Event()
    groups = layout.buffers(events)

    def behave(connection):
        connection.send(layout.handshake() + groups[0][0])
        go.wait(PATIENCE)
        connection.send(b"".join(group[0] for group in groups[1:]))
        connection.finish()
    with Server(behave) as server:
        uri = f"mbs://{HOST}:{server.port}/transport"
        with Tapped(tmp_path, [uri], "--define", "tag", "--epochs-per-slice", 1, "--overlap", 0) as run, run.client() as client:
            run.until_counter("tap_clients", 1)
            go.set()
            found = client.events()
            run.ended()
    assert_events(found, [encode(event) for event in events[-len(found):]])
    assert len(found) > len(events) / 2


# When clients come and go


def test_a_late_client_gets_events_from_then_on_with_their_numbers(tmp_path, streams):
    with Tapped(tmp_path, streams, *GAP) as run:
        run.go(speed=0.003)
        run.until_status(lambda status: run.counter("events", status) > 20, "events before the client")
        with run.client() as client:
            first = client.events(at_most=5)
        with run.client() as client:
            second = client.events(at_most=5)
            run.go(clients=1)
            second += client.events()
        said = run.ended()
    merged = hits_of_events(Merged(None, tmp_path / "run.h5").merged)
    found = numbers(first) + numbers(second)
    assert found == sorted(set(found)) and found[0] > 20 and found[-1] == len(merged)
    assert numbers(second) == list(range(numbers(second)[0], len(merged) + 1))
    assert_events([hits_in(event) for event in events_in(first + second)], [merged[number - 1] for number in found])
    assert said["tap_connections"] == 2


def test_events_do_not_wait_for_full_buffers(tmp_path, streams):
    with Tapped(tmp_path, streams, *GAP) as run, run.client() as client:
        run.go(clients=1, speed=0.001)
        assert client.events(at_most=1)
        assert run.status()["state"] == "running"
        run.go(clients=1)
        client.events()
        run.ended()


def test_a_run_that_is_stopped_ends_its_clients(tmp_path, streams):
    with Tapped(tmp_path, streams, *GAP) as run, run.client() as client:
        run.go(clients=1, speed=0.001)
        assert client.events(at_most=1)
        run.send(signal.SIGUSR1, 0)
        client.events()
        run.wait(STOPPED)


def test_a_resumed_run_serves_the_rest(tmp_path, streams):
    with Tapped(tmp_path, streams, *GAP) as run, run.client() as client:
        run.go(clients=1, speed=0.01)
        first = client.events(at_most=1)
        run.send(signal.SIGUSR1, 0)
        first += client.events()
        run.wait(STOPPED)
    with Tapped(tmp_path, streams, *GAP, "--resume") as run, run.client() as client:
        run.go(clients=1)
        rest = client.events()
        run.ended()
    assert_events([hits_in(event) for event in events_in(first + rest)], hits_of_events(Merged(None, tmp_path / "run.h5").merged))


# Clients that misbehave


BULK = ["gen:poisson?rate=2e6&duration=1s&payload=4&seed=5", "--define", "gap:1us,1", "--overlap", "1ms"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_that_does_not_read_loses_buffers_and_delays_no_other(tmp_path, kind):
    """The other client, which reads, receives whole buffers, possibly with gaps between them."""
    uri, *options = BULK
    expected = plain_run(tmp_path, [uri], *options)
    with Tapped(tmp_path / "run", [uri], *options, kind=kind) as run, run.client(receive_bytes=4096), run.client() as good:
        reading = in_background(good.events)
        run.go(clients=2)
        found = numbers(reading())
        said = run.ended()
    assert said["tap_buffers_dropped"] > 0 and said["tap_events_dropped"] > said["tap_buffers_dropped"]
    assert found and found == sorted(set(found))
    done = eventloom("compare", expected.output, tmp_path / "run" / "run.h5")
    assert re.search(r"in both, but different +0\n", done.stdout)


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_clients_are_harmless(tmp_path, triggered, kind):
    garbage = [b"\0" * 12, b"\xff" * 12, b"GET / HTTP/1.1\r\n\r\n", b"GETEVTX\0\0\0\0\0", os.urandom(1 << 20)]
    with Tapped(tmp_path, [triggered[1]], *STAMPED, kind=kind) as run, run.client() as good:
        for data in [*garbage, request("CLOSE")]:
            with run.client() as client:
                with contextlib.suppress(ConnectionError):
                    client.say(data)
                assert client.closed_by_server()
        for data in (b"", b"GETEV"):  # disconnects in the middle of a word
            with run.client() as client:
                client.say(data)
        with run.client() as client:  # gets RST
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with run.client() as hasty:
            hasty.socket.setblocking(False)
            with contextlib.suppress(BlockingIOError):  # requests endlessly and never reads
                for _ in range(1000):
                    hasty.socket.send(1000 * request("GETEVT"))
            reading = in_background(good.events)
            run.go(clients=2)
            found = reading()
            said = run.ended()
    assert_events(found, triggered[0])
    assert said["tap_refused"] == len(garbage)


def test_more_clients_than_eight_are_refused(tmp_path, triggered):
    with Tapped(tmp_path, [triggered[1]], *STAMPED) as run, contextlib.ExitStack() as clients:
        eight = [clients.enter_context(run.client()) for _ in range(8)]
        run.until_counter("tap_clients", 8)
        with run.client(shake=False) as ninth:
            assert ninth.closed_by_server()
        assert "is refused: there are 8 already" in run.text()
        reading = [in_background(client.events) for client in eight]
        run.go(clients=8)
        assert len({tuple(wait()) for wait in reading}) == 1
        said = run.ended()
    assert said["tap_refused"] == 1 and said["tap_connections"] == 9


def test_an_event_too_large_for_a_buffer_is_named_and_counted(tmp_path):
    events = [*stamped(5), *stamped(1, words=300_000, first=6), *stamped(5, first=7)]
    (tmp_path / "large.lmd").write_bytes(flat_file(events))
    with Tapped(tmp_path, [f"lmd:{tmp_path}/large.lmd?time=wr"], *STAMPED) as run, run.client() as client:
        run.go(clients=1)
        assert numbers(client.events()) == [1, 2, 3, 4, 5, 7, 8, 9, 10, 11]
        said = run.ended()
        assert re.search(r"tap: the event at 60000 of 1200052 bytes is not sent: buffers hold \d+\n", run.text())
    assert said["tap_events_dropped"] == 1


# Messages of the run about it


def test_what_the_run_says(tmp_path, triggered):
    with Tapped(tmp_path, [triggered[1]], *STAMPED) as run, run.client() as client:
        run.until_counter("tap_clients", 1)
        metrics = run.ask("/metrics")[2].decode()
        assert "# TYPE eventloom_tap_clients gauge\n" in metrics and "\neventloom_tap_clients 1\n" in metrics
        assert "# TYPE eventloom_tap_events_total counter\n" in metrics
        run.go(clients=1)
        events = len(client.events())
        said, text = run.ended(), run.text()
    assert f"tap: 1 clients, 0 refused, {events} events in {said['tap_bytes']} bytes sent; 0 events in 0 buffers dropped\n" in text
    assert "tap: client 127.0.0.1:" in text


def test_without_a_tap_nothing_is_said_of_it(tmp_path, triggered):
    done = plain_run(tmp_path, [triggered[1]], *STAMPED).done
    assert not re.search(r"\btap\b(?!/)", done.stdout + done.stderr)


@pytest.mark.parametrize("option, address, service", [
    ("{}", HOST, "stream"), ("mbs://{}", HOST, "stream"), ("{}/transport", HOST, "transport"),
    ("mbs://[::1]:{}/stream", "::1", "stream")])
def test_where_it_listens(tmp_path, triggered, option, address, service):
    with taken_port() as port:
        pass
    words = ["run", triggered[1], *STAMPED, "--tap", option.format(port)]
    with Started(tmp_path, *words, "--output", "run.h5") as run:
        place = f"[{address}]" if ":" in address else address
        run.until_reported(f"tap: events are served at mbs://{place}:{port}/{service} on ")
        run.wait(0)


def test_listens_on_the_loopback_interface_alone(tmp_path, triggered):
    with Tapped(tmp_path, [triggered[1]], *STAMPED) as run:
        for port in run.ports():
            with pytest.raises(ConnectionRefusedError):
                Client(port, host="127.0.0.2")
        run.go()
        run.ended()


# Mistakes


@pytest.mark.parametrize("option", ["x", "", "70000", "-1", "6002/event", "mbs://host", "6002?kind=stream", "6002/", "no such host:0"])
def test_bad_usage(tmp_path, triggered, option):
    done = eventloom("run", triggered[1], *STAMPED, "--tap", option or ":", "--output", tmp_path / "run.h5", code=2)
    only_line(done, "--tap")
    assert not (tmp_path / "run.h5").exists()


def assert_refused(done, *words):
    """All ranks ended with one line of the program's."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("eventloom") and "info:" not in line]
    assert len(lines) == 1 and done.stdout == "" and all(word in lines[0] for word in words), done.stderr


def test_ports_beyond_the_last_are_refused(tmp_path, triggered):
    words = ["run", triggered[1], *STAMPED, "--builders", 3, "--output", tmp_path / "run.h5"]
    assert_refused(eventloom(*words, "--tap", 65534, code=2, np=2), "--tap", "65534", "65536", "lower")
    assert not (tmp_path / "run.h5").exists()


@pytest.mark.parametrize("rank", [0, 1])
def test_a_port_in_use_on_any_rank_ends_all_with_one_line(tmp_path, triggered, rank):
    words = ["run", triggered[1], *STAMPED, "--builders", 2, "--output", tmp_path / "run.h5"]
    with taken_port() as port:
        # Builder 1 is on rank 0, beside the source.
        done = eventloom(*words, "--tap", port - 1 + rank, code=2, np=2)
    assert_refused(done, f"port {port} ", "in use", "--tap")
    assert not (tmp_path / "run.h5").exists()
