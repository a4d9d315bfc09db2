"""MBS data over TCP: `eventloom serve` read by an independent client, and mbs: sources fed by it and by an independent server."""

import contextlib
import os
import queue
import re
import signal
import struct
import threading
import time
from pathlib import Path

import pytest

from epochs_file import hits_of_file, read_epochs_file
from interrupted import Started, until
from lmd_reference import Event, Subevent, built, encode, flat_file, hits_of_events, read_lmd, sort_out, white_rabbit
from live import merged, sockets
from mbs import (HEADER_BYTES, LOOPBACK, PATIENCE, Layout, Server, Serving, breaks_off, request, says, sends, sends_on_request, silent,
                 with_keep_alives)
from monitored import Monitored
from program import DATA, Run, eventloom
from results import assert_balanced, assert_same, read_ledger, read_merged

FILES = sorted((DATA / "lmd").glob("*.lmd"))
TYPICAL = [DATA / "lmd" / f"{name}.lmd" for name in ("be_flat", "classic_16k", "gen_partial_0000", "var_2byte")]
SMALL = DATA / "lmd" / "var_small.lmd"
PROTOCOLS = ("transport", "stream")
MODES = [(protocol, buffers, order) for protocol in PROTOCOLS for buffers in ("variable", "native")
         for order in ("little", "big")]


LISTENS = "0A"  # state of a socket in /proc/net/tcp


def by_name(path):
    return path.stem


def stored(path):
    """Events of a file as bytes, in the little-endian view."""
    return [encode(event) for event in read_lmd(path).events]


def numbers(events):
    return [struct.unpack_from("<I", event, 12)[0] for event in events]


def made(count, words=10, first=1):
    return [Event(number, [Subevent(1, [number, *range(words - 1)])]) for number in range(first, first + count)]


def lmd_file(folder, events, name="made.lmd"):
    path = folder / name
    path.write_bytes(flat_file(events))
    return path


def in_background(call):
    """Starts `call`; calling the returned function gives its result."""
    result = []
    thread = threading.Thread(target=lambda: result.append(call()), daemon=True)
    thread.start()

    def wait():
        thread.join(PATIENCE)
        assert result, "no end in the background"
        return result[0]
    return wait


# The server: its data


def test_the_reference_gives_events_as_they_lie_in_files():
    """The comparisons below are of the bytes of the files."""
    for name in ("var_small", "var_2byte", "comb_0002"):
        data = (DATA / "lmd" / f"{name}.lmd").read_bytes()
        assert b"".join(stored(DATA / "lmd" / f"{name}.lmd")) == data[HEADER_BYTES:]


def check_serving(folder, path, protocol, buffers, order, *words):
    expected = stored(path)
    with Serving(folder, path, "--buffers", buffers, "--byte-order", order, "--once", *words, protocol=protocol) as serving:
        with serving.client() as client:
            assert client.layout.native == (buffers == "native") and client.layout.order == {"little": "<", "big": ">"}[order]
            groups = list(client.groups())
            assert client.events_of([buffer for group in groups for buffer in group]) == expected
        said = serving.ended()
    assert (said.events, said.bytes) == (said.sent_events, sum(map(len, expected))) == (len(expected), said.bytes)
    assert said.buffers == said.sent_buffers == sum(map(len, groups))
    assert (said.clients, said.dropped_events, said.timed_out, said.refused, said.damaged, said.too_large) == (1, 0, 0, 0, 0, 0)
    return groups


@pytest.mark.parametrize("protocol, buffers, order", MODES)
@pytest.mark.parametrize("path", TYPICAL, ids=by_name)
def test_events_are_byte_identical_in_all_modes(tmp_path, path, protocol, buffers, order):
    check_serving(tmp_path, path, protocol, buffers, order)


@pytest.mark.parametrize("path", [path for path in FILES if path not in TYPICAL], ids=by_name)
def test_events_are_byte_identical(tmp_path, path):
    check_serving(tmp_path, path, "transport", "variable", "little")
    check_serving(tmp_path, path, "stream", "native", "big")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_events_span_buffers_but_not_streams(tmp_path, protocol):
    groups = check_serving(tmp_path, SMALL, protocol, "native", "little", "--buffer-size", "2KiB", "--stream-buffers", 4)
    buffers = [buffer for group in groups for buffer in group]
    assert sum(buffer.continues for buffer in buffers) > len(buffers) / 2
    assert [buffer.number for buffer in buffers] == list(range(1, len(buffers) + 1))
    for before, buffer in zip(buffers, buffers[1:]):
        assert before.unfinished == buffer.continues
    if protocol == "stream":
        assert not any(group[0].continues or group[-1].unfinished for group in groups)


def test_streams_of_one_buffer_have_whole_events(tmp_path):
    groups = check_serving(tmp_path, DATA / "lmd" / "classic_nospan.lmd", "stream", "native", "little", "--buffer-size", "16KiB",
                           "--stream-buffers", 1)
    assert not any(buffer.continues or buffer.unfinished for group in groups for buffer in group)


@pytest.mark.parametrize("size", ["16KiB", "64KiB"])
def test_native_headers_are_those_of_the_foreign_writer(tmp_path, size):
    """classic_16k comes from GSI's own program: fields that it fills are filled equally; larger buffers count in
    free[2]."""
    groups = check_serving(tmp_path, DATA / "lmd" / "classic_16k.lmd", "transport", "native", "little", "--buffer-size", size)
    first = next(buffer for group in groups for buffer in group)
    theirs = (DATA / "lmd" / "classic_16k.lmd").read_bytes()[16384:16384 + HEADER_BYTES]
    if size == "16KiB":  # except for the time
        assert first.header[:24] + first.header[32:] == theirs[:24] + theirs[32:]
        assert len(groups) == 90
    else:
        assert struct.unpack_from("<H", first.header, 8) == (0,)
        assert struct.unpack_from("<I", first.header, 40) == ((65536 - HEADER_BYTES) // 2,)


def test_files_follow_one_another(tmp_path):
    parts = sorted((DATA / "lmd").glob("gen_split_*.lmd"))
    with Serving(tmp_path, *parts, "--once") as serving, serving.client() as client:
        assert client.events() == stored(parts[0]) + stored(parts[1])
        assert serving.ended().events == 4096 + 256


def test_repeated_files_have_continued_numbers(tmp_path):
    path = lmd_file(tmp_path, made(100, first=40))
    with Serving(tmp_path, path, "--loop", 3, "--once") as serving, serving.client() as client:
        events = client.events()
        assert numbers(events) == list(range(40, 340))
        once = stored(path)
        assert [event[:12] + event[16:] for event in events] == 3 * [event[:12] + event[16:] for event in once]


def test_restarts_with_the_next_client(tmp_path):
    with Serving(tmp_path, SMALL) as serving:
        for _ in range(3):
            with serving.client() as client:
                assert client.events() == stored(SMALL)
        serving.process.send_signal(signal.SIGTERM)
        assert serving.ended().clients == 3


@pytest.mark.parametrize("buffers", ["variable", "native"])
def test_events_too_large_for_buffers_are_named_and_counted(tmp_path, buffers):
    events = made(9, words=10) + made(1, words=5000, first=10) + made(5, words=10, first=11)
    path = lmd_file(tmp_path, events)
    words = ("--buffer-size", "4KiB", "--stream-buffers", 4, "--buffers", buffers, "--once")
    with Serving(tmp_path, path, *words) as serving, serving.client() as client:
        assert client.events() == [encode(event) for event in events if event.number != 10]
        assert serving.ended(code=3).too_large == 1
        assert "event 10 of 20028 bytes" in serving.text() and "--buffer-size" in serving.text()


def test_a_damaged_file_is_reported_and_counted(tmp_path):
    data = SMALL.read_bytes()
    path = tmp_path / "cut.lmd"
    path.write_bytes(data[:len(data) * 2 // 3])
    with Serving(tmp_path, path, SMALL, "--once") as serving, serving.client() as client:
        events, whole = client.events(), stored(SMALL)
        count = len(events) - len(whole)
        assert 0 < count < len(whole) and events == whole[:count] + whole
        assert serving.ended(code=3).damaged == 1
        assert re.search(r"cut\.lmd: offset \d+: ", serving.text())


# The server: its clients


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """More data than the system's buffers hold for a client, when sent a few times."""
    return lmd_file(tmp_path_factory.mktemp("large"), made(2000, words=1000))


def test_all_clients_of_a_transport_get_all(tmp_path, large):
    with Serving(tmp_path, large, "--clients", 3, "--once") as serving:
        clients = [serving.client() for _ in range(3)]
        waits = [in_background(client.events) for client in clients]
        assert all(wait() == stored(large) for wait in waits)
        said = serving.ended()
        assert said.clients == 3 and said.sent_events == 3 * said.events == 6000


def test_a_late_client_gets_what_is_left_from_an_event_on(tmp_path, large):
    with Serving(tmp_path, large, "--loop", 10, "--once") as serving:
        with serving.client(receive_bytes=1 << 16) as first:
            seen = first.events(at_most=1)
            with serving.client() as late:  # the first client does not read: the server waits for it
                wait = in_background(first.events)
                events = late.events()
            seen += wait()
        assert numbers(seen) == list(range(1, 20001))
        assert 0 < len(events) < len(seen) and events == seen[-len(events):]
        serving.ended()


def test_a_client_that_comes_back_gets_nothing_twice(tmp_path, large):
    with Serving(tmp_path, large, "--loop", 10, "--once") as serving:
        with serving.client(receive_bytes=1 << 16) as client:
            before = client.events(at_most=100)
        with serving.client() as client:
            after = client.events()
        serving.ended(code=3)
        assert re.search(r"has left data unread: of \d+ events that were sent to it alone, some may be lost\n", serving.text())
    found = numbers(before) + numbers(after)
    assert found == sorted(set(found)) and after and numbers(after) == list(range(numbers(after)[0], 20001))


def test_a_single_stream_client_gets_all_however_slow(tmp_path, large):
    with Serving(tmp_path, large, "--loop", 5, "--client-buffer", "1", "--once", protocol="stream") as serving:
        with serving.client(receive_bytes=1 << 16) as client:
            assert numbers(client.events()) == list(range(1, 10001))
        assert serving.ended().dropped_events == 0


def test_a_slow_stream_client_loses_what_it_does_not_ask_for(tmp_path):
    path = lmd_file(tmp_path, made(3000))
    words = ("--clients", 2, "--rate", "10000", "--buffer-size", "1KiB", "--client-buffer", "1", "--once")
    with Serving(tmp_path, path, *words, protocol="stream") as serving:
        slow, quick = serving.client(), serving.client()
        quick.ask_ahead()
        some = slow.events(at_most=1)
        much = quick.events()
        rest = slow.events()
        said = serving.ended(code=3)
    for found in (numbers(some + rest), numbers(much)):
        assert found == sorted(set(found))
    most = (1024 - HEADER_BYTES) // len(encode(made(1)[0]))
    assert 0 < len(some) <= most and 0 < len(rest) <= most, "one buffer was sent, and one is kept for it"
    assert said.sent_events == len(some) + len(rest) + len(much)
    assert said.sent_events + said.dropped_events == 2 * said.events == 6000


def test_a_client_that_takes_nothing_is_sent_off(tmp_path, large):
    with Serving(tmp_path, large, "--clients", 2, "--loop", 10, "--client-timeout", "2s", "--once") as serving:
        with serving.client(receive_bytes=1 << 16), serving.client() as other:
            events = other.events(at_most=10_000)
            assert serving.memory() < 64 << 20, "less than is sent in all"
            assert numbers(events + other.events()) == list(range(1, 20001))
            assert serving.ended(code=3).timed_out == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_hostile_clients_are_harmless(tmp_path, protocol):
    """Beside a good client, which waits for its first event until the hostile ones have connected."""
    garbage = [b"\0" * 12, b"\xff" * 12, b"GET / HTTP/1.1\r\n\r\n", b"GETEVTX\0\0\0\0\0", os.urandom(1 << 20)]
    with Serving(tmp_path, SMALL, "--clients", 20, "--client-timeout", "2s", "--once", protocol=protocol) as serving:
        good = serving.client()
        for data in [*garbage, request("CLOSE")]:
            with serving.client() as client:
                with contextlib.suppress(ConnectionError):
                    client.say(data)
                assert client.closed_by_server()
        for data in (b"", b"GETEV", b"G"):  # disconnects in the middle of a word
            with serving.client() as client:
                client.say(data)
        with serving.client() as hasty, contextlib.ExitStack() as others:
            word, sent = request("GETEVT"), 0
            hasty.socket.setblocking(False)
            with contextlib.suppress(BlockingIOError):  # requests endlessly and never reads
                for _ in range(10_000):
                    sent += hasty.socket.send(1000 * word)
            if protocol == "transport":  # whose server continues to read; one that stops within a word is not a client
                hasty.socket.setblocking(True)
                hasty.say(word[sent % len(word):])
            assert serving.memory() < 64 << 20
            for _ in range(18):  # say nothing more
                others.enter_context(serving.client()).ask_ahead()
            assert good.events() == stored(SMALL)
        assert serving.ended(code=None).refused == len(garbage)


def test_a_request_may_come_byte_by_byte_and_several_at_once(tmp_path):
    with Serving(tmp_path, SMALL, "--buffer-size", "4KiB", "--once", protocol="stream") as serving:
        with serving.client() as client:
            for byte in request("GETEVT", b"\xff\xfe"):
                client.say(bytes([byte]))
            found = [client.buffer()]
            client.say(20 * request("GETEVT"))
            found += [client.buffer() for _ in range(20)]
            events = client.events_of(found)
            assert events + client.events() == stored(SMALL)
        serving.ended()


def test_listens_on_the_loopback_interface_alone(tmp_path):
    with Serving(tmp_path, SMALL) as serving:
        port = f":{serving.port:04X}"
        sockets = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
        assert [row[1] for row in sockets if row[1].endswith(port) and row[3] == LISTENS] == ["0100007F" + port]


def test_ipv6(tmp_path):
    with Serving(tmp_path, SMALL, "--address", "::1", "--once") as serving:
        with serving.client(host="::1") as client:
            assert client.events() == stored(SMALL)
        assert serving.ended().clients == 1
        assert serving.output.read_text().startswith("serving transport on [::1]:")


# The server: pace and end


@pytest.mark.parametrize("words", [("--rate", "1000"), ("--speed", "2")])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_events_come_no_sooner_than_they_are_due(tmp_path, protocol, words):
    """300 events, 2 ms apart by their stamps; 1 ms by rate and at double speed."""
    events = [Event(number, [Subevent(1, white_rabbit(10**15 + 2_000_000 * number))]) for number in range(300)]
    uri = f"lmd:{lmd_file(tmp_path, events)}?time=wr"
    with Serving(tmp_path, uri, *words, "--flush-after", "10ms", "--client-buffer", "1GiB", "--once",
                 protocol=protocol) as serving:
        serving.port  # it listens
        begin, found, groups = time.monotonic(), [], 0  # the pace starts with the client
        with serving.client() as client:
            for buffers in client.groups():
                found += client.events_of(buffers)
                groups += 1
                assert len(found) <= 1000 * (time.monotonic() - begin) + 1
            assert found == [encode(event) for event in events]
            assert groups > 1, "buffers are sent before they are full"
        serving.ended()


def test_times_that_step_back_restart(tmp_path):
    stamps = [10**15, 10**15 + 1000, 5, 1005, 10**18, 10**18 + 1000]
    events = [Event(number, [Subevent(1, white_rabbit(stamp))]) for number, stamp in enumerate(stamps)]
    uri = f"lmd:{lmd_file(tmp_path, events)}?time=wr"
    with Serving(tmp_path, uri, "--speed", "1", "--once") as serving, serving.client() as client:
        assert len(client.events()) == 6
        serving.ended()
        assert "stepped back or ahead by more than an hour 2 times" in serving.text()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_silent_native_server_gives_signs_of_life(tmp_path, protocol):
    words = ("--buffers", "native", "--buffer-size", "1KiB", "--stream-buffers", 2, "--rate", "0.01")
    with Serving(tmp_path, SMALL, *words, protocol=protocol) as serving, serving.client() as client:
        first, second = client.group(), client.group()
        assert len(client.events_of(first)) == 1
        assert all(buffer.used == 0 and buffer.elements == 0 for buffer in second)
        serving.process.send_signal(signal.SIGTERM)
        assert client.events() == []
        assert serving.ended().sent_events == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
@pytest.mark.parametrize("protocol, buffers, order", [m for m in MODES if m[2] == "little"])
def test_a_signal_ends_it_after_a_whole_buffer(tmp_path, large, protocol, buffers, order, number):
    with Serving(tmp_path, large, "--loop", "1e9", "--buffers", buffers, protocol=protocol) as serving:
        with serving.client() as client:
            events = client.events(at_most=100)
            serving.process.send_signal(number)
            events += client.events()
            assert numbers(events) == list(range(1, len(events) + 1))
        said = serving.ended()
        assert said.sent_events == len(events)


def test_a_signal_ends_it_without_clients(tmp_path):
    with Serving(tmp_path, SMALL) as serving:
        assert serving.port
        serving.process.send_signal(signal.SIGTERM)
        assert serving.ended().clients == 0


def test_a_signal_ends_it_beside_a_client_that_does_not_read(tmp_path, large):
    with Serving(tmp_path, large, "--loop", 100) as serving, serving.client(receive_bytes=1 << 16) as client:
        client.events(at_most=1)
        serving.process.send_signal(signal.SIGTERM)
        serving.ended()


@pytest.mark.parametrize("words, reported", [
    ((), "no file given"),
    (("missing.lmd",), "missing.lmd"),
    (("lmd:made.lmd?time=wr&kind=2",), "kind"),
    (("made.csv",), "made.csv"),
    (("made.lmd", "--speed", "1"), "--rate"),
    (("lmd:made.lmd?time=wr", "--speed", "1", "--rate", "5"), "--speed"),
    (("made.lmd", "--rate", "fast"), "--rate"),
    (("made.lmd", "--protocol", "event"), "--protocol"),
    (("made.lmd", "--buffers", "some"), "--buffers"),
    (("made.lmd", "--byte-order", "middle"), "--byte-order"),
    (("made.lmd", "--buffer-size", "10"), "--buffer-size"),
    (("made.lmd", "--buffer-size", "1027"), "multiple of 4"),
    (("made.lmd", "--port", "65536"), "--port"),
    (("made.lmd", "--clients", "0"), "--clients"),
    (("made.lmd", "--client-timeout", "soon"), "--client-timeout"),
    (("made.lmd", "--address", "192.0.2.1", "--port", "0"), "192.0.2.1"),
    (("made.lmd", "--address", "no such host"), "no such host")])
def test_bad_usage(tmp_path, words, reported):
    lmd_file(tmp_path, made(1))
    (tmp_path / "made.csv").write_text("1,2\n")
    done = eventloom("serve", *words, code=2, timeout=20, cwd=tmp_path)
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1 and reported in done.stderr


def test_a_port_in_use_is_reported(tmp_path):
    with Serving(tmp_path, SMALL) as serving:
        done = eventloom("serve", SMALL, "--port", serving.port, code=2, timeout=20)
        assert f"port {serving.port}" in done.stderr and "in use" in done.stderr


# mbs: as a source


def url(port, protocol="transport"):
    return f"mbs://{LOOPBACK}:{port}/{protocol}"


def convert(folder, uri, *options, code=0):
    """The hits that `convert` makes of a source."""
    done = eventloom("convert", uri, "--output", folder / "made.epochs", "--force", *options, code=code, timeout=60)
    return done, hits_of_file(read_epochs_file(folder / "made.epochs")) if (folder / "made.epochs").exists() else None


def assert_hits(found, expected):
    assert_same(*({name: getattr(hits, name) for name in ("time", "channel", "payload_words", "payload")}
                  for hits in (found, expected)))


def hits_of(events):
    return hits_of_events(sort_out(events).kept)


@pytest.mark.parametrize("protocol, buffers, order", MODES)
@pytest.mark.parametrize("path", TYPICAL, ids=by_name)
def test_a_source_gets_from_serve_what_is_in_the_file(tmp_path, path, protocol, buffers, order):
    numbered = sort_out(read_lmd(path).events)
    code = 3 if numbered.hits_dropped else 0
    _, from_file = convert(tmp_path, f"lmd:{path}", code=code)
    with Serving(tmp_path, path, "--buffers", buffers, "--byte-order", order, "--once", protocol=protocol) as serving:
        _, found = convert(tmp_path, url(serving.port, protocol), code=code)
        serving.ended()
    assert_hits(found, from_file)
    assert_hits(found, hits_of_events(numbered.kept))


LAYOUTS = [Layout(native, order, 4096, 4 if native else 1) for native in (False, True) for order in "<>"]


def name_of(layout):
    return f"{'native' if layout.native else 'variable'}-{'LE' if layout.order == '<' else 'BE'}"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=name_of)
def test_a_source_reads_a_foreign_server(tmp_path, layout, protocol):
    events = [event for event in read_lmd(SMALL).events if event.dlen < 1900]
    with Server(sends(layout, layout.buffers(events), protocol)) as server:
        _, found = convert(tmp_path, url(server.port, protocol))
        asked = server.connections[0].requests
    assert_hits(found, hits_of(events))
    assert all(word.startswith(b"GETEVT\0") for word in asked if not word.startswith(b"CLOSE"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=name_of)
def test_a_source_reads_bytes_that_come_one_by_one(tmp_path, layout, protocol):
    events = made(60, words=40)
    with Server(sends(layout, layout.buffers(events), protocol, piece=1)) as server:
        _, found = convert(tmp_path, url(server.port, protocol))
    assert_hits(found, hits_of(events))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("order", "<>")
def test_a_source_reads_a_server_in_legacy_mode(tmp_path, order, protocol):
    """Buffers of one size, each with the length of its contents in its header; empty ones and slack are not data."""
    layout = Layout(False, order, 4096, 4, legacy=True)
    events = made(300, words=40)
    groups = [layout.buffers(events[:7]), layout.buffers(events[7:150]), layout.buffers(events[150:])]
    with Server(sends(layout, [group for part in groups for group in part], protocol)) as server:
        _, found = convert(tmp_path, url(server.port, protocol))
    assert_hits(found, hits_of(events))


# mbs: counters that restart

ERA = 10**9


def acquisition(first, count, mark):
    """From start to stop; all its events contain `mark`."""
    triggers = [14, *[1] * (count - 2), 15]
    return [Event(first + k, [Subevent(1, [mark, k])], trigger) for k, trigger in enumerate(triggers)]


def assert_eras(run, *eras):
    """The events that were built: for each era, its number and the numbers of its events."""
    expected = [ERA * era + number for era, numbers in eras for number in numbers]
    assert sorted(read_merged(run.merged)["events/time"].tolist()) == expected
    counts = run.report()["per_source"][0]["counts"]
    assert (counts.get("eras", 1), counts.get("era_offset", 0)) == (len(eras), ERA * eras[-1][0])
    assert len([line for line in run.done.stderr.splitlines() if "start again" in line]) == len(eras) - 1, run.done.stderr


@pytest.mark.parametrize("layout", [LAYOUTS[0], LAYOUTS[3]], ids=name_of)
def test_a_stop_and_a_start_open_an_era(tmp_path, layout):
    """Although the events of the second acquisition repeat the first's; continued numbers do not open one."""
    groups = layout.buffers([*acquisition(1, 50, 7), *acquisition(1, 30, 7), *acquisition(31, 30, 7)])
    with Server(sends(layout, groups)) as server:
        run = Run(tmp_path, [url(server.port)], "--define", "tag")
    assert_eras(run, (0, range(1, 51)), (1, range(1, 61)))
    assert_balanced(read_ledger(run.output))


@pytest.mark.parametrize("layout", [LAYOUTS[0], LAYOUTS[3]], ids=name_of)
def test_a_restarted_server_opens_an_era(tmp_path, layout):
    first, second = layout.buffers(acquisition(1, 50, 7)), layout.buffers(made(40))
    with Server(sends(layout, first), sends(layout, second)) as server:
        run = Run(tmp_path, [url(server.port)], "--define", "tag", "--reconnect", "1s", code=3)
    assert_eras(run, (0, range(1, 51)), (1, range(1, 41)))
    assert read_ledger(run.output)["hits_in"].sum() == 90


@pytest.mark.parametrize("key, eras", [("era=repeat", [(0, range(1, 51))]), ("era=new", [(0, range(1, 51)), (1, range(1, 51))])])
def test_the_user_says_what_numbers_are_behind_a_reconnection(tmp_path, key, eras):
    """Repeated events are reported in one line."""
    layout = Layout()
    groups = layout.buffers(acquisition(1, 50, 7))
    with Server(sends(layout, groups), sends(layout, groups)) as server:
        run = Run(tmp_path, [f"{url(server.port)}?{key}"], "--define", "tag", "--reconnect", "1s", code=3)
    assert_eras(run, *eras)
    assert run.done.stderr.count("has sent 50 events again") == (key == "era=repeat")
    assert "is dropped" not in run.done.stderr


def test_servers_that_restart_together_have_one_era(tmp_path):
    """Although one of them has lost the last events of the previous era."""
    layout = Layout()
    streams = [[*acquisition(1, 50, mark)[:kept], *acquisition(1, 20, mark)] for kept, mark in ((50, 7), (45, 8))]
    with Server(sends(layout, layout.buffers(streams[0]))) as a, Server(sends(layout, layout.buffers(streams[1]))) as b:
        run = Run(tmp_path, [url(a.port), url(b.port)], "--define", "tag", code=3)
    found = read_merged(run.merged)
    both = {int(time) for time, hits in zip(found["events/time"], found["events/n_hits"]) if hits == 2}
    assert both == {*range(1, 46), *(ERA + number for number in range(1, 21))}
    assert set(found["events/time"].tolist()) == both | set(range(46, 51))


@pytest.mark.parametrize("first", [(-200, 50), (50, -200), (-200, 0), (-300, -100), (10, 150)])
@pytest.mark.parametrize("bits", [16, 24])
def test_narrow_counters_of_servers_that_begin_apart(tmp_path, bits, first):
    """Also if one of them has wrapped before it restarted: events meet by number, and earlier ones lack it."""
    layout, last = Layout(), 400
    streams = [[Event(k % 2**bits, [Subevent(1, [mark, 2**bits + k])]) for k in range(begin, last)] for mark, begin in enumerate(first)]
    with Server(sends(layout, layout.buffers(streams[0]))) as a, Server(sends(layout, layout.buffers(streams[1]))) as b:
        run = Run(tmp_path, [f"{url(server.port)}?bits={bits}" for server in (a, b)], "--define", "tag", code=3)
    found = read_merged(run.merged)
    assert dict(zip(found["events/time"].tolist(), found["events/n_hits"].tolist())) == {
        (2**bits if min(first) < 0 else 0) + k: 2 if k >= max(first) else 1 for k in range(min(first), last)}
    assert_balanced(read_ledger(run.output))


@pytest.mark.parametrize("apart", [333, 5000])
def test_an_optional_server_that_rarely_has_an_event(tmp_path, apart):
    """Each event is built, although its slice is built while the server is silent, and nothing has confirmed its
    number."""
    layout, rare = Layout(), [100 + k * apart for k in range(4)]
    data = [queue.SimpleQueue(), queue.SimpleQueue()]
    with contextlib.ExitStack() as stack:
        a, b = (stack.enter_context(Server(sends_on_request(layout, groups))) for groups in data)
        run = stack.enter_context(Monitored(tmp_path, [url(a.port), f"{url(b.port)}?optional"], "--define", "tag", "--epoch-timeout",
                                            "20s", "--epochs-per-slice", "2"))
        sent = len(layout.handshake())
        for k, number in enumerate(rare):
            groups = layout.buffers(made(1, first=number))
            sent += sum(len(buffer) for group in groups for buffer in group)
            for group in groups:
                data[1].put(group)
            until(lambda: b.connections and b.connections[0].sent == sent, "the rare event is sent", so_far=run.text)
            until(lambda: not any(one.to_read for one in sockets("tcp", b.port, of_peers=True)), "it is read", so_far=run.text)
            for group in layout.buffers(made(apart, first=1 + k * apart)):
                data[0].put(group)
            if k == 0:
                run.listening()
            run.until_status(lambda s: s["ledger"]["hits_in"] > k * apart + 140, f"slices behind number {number}")
        for groups in data:
            groups.put(None)
        run.wait(0)
        said = run.text()
    found = merged(tmp_path)
    assert found["events/time"].tolist() == list(range(1, 4 * apart + 1)) and not found["events/flags"].any()
    assert found["events/time"][found["events/n_hits"] == 2].tolist() == rare
    assert "--flush-after" not in said


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout.native], ids=name_of)
def test_empty_buffers_are_no_data(tmp_path, layout, protocol):
    events = made(300, words=40)
    whole = Layout(True, layout.order, layout.buffer_bytes, layout.per_stream)
    groups = [group for part in range(0, 300, 50) for group in whole.buffers(events[part:part + 50])]
    with Server(sends(layout, with_keep_alives(layout, groups), protocol)) as server:
        _, found = convert(tmp_path, url(server.port, protocol))
    assert_hits(found, hits_of(events))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=name_of)
@pytest.mark.parametrize("after", [20, HEADER_BYTES, 1000])
def test_what_came_before_a_server_was_killed_in_a_buffer_is_kept(tmp_path, layout, protocol, after):
    groups = [layout.buffers(made(8, 40, 1 + 8 * part), 1 + layout.per_stream * part)[0] for part in range(3)]
    with Server(breaks_off(layout, groups, after, protocol)) as server:
        done, found = convert(tmp_path, url(server.port, protocol), code=3)
    assert_reported(done)
    times = found.time.tolist()
    # Complete events of the last buffer, whose end is missing, may be kept, too.
    assert times == list(range(1, 1 + len(times))) and 16 <= len(times) < 24


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=name_of)
def test_a_connection_that_is_reset_is_reported(tmp_path, layout, protocol):
    """The system discards unread data, in the worst case the handshake: then there is no source."""
    groups = [layout.buffers(made(8, 40, 1 + 8 * part), 1 + layout.per_stream * part)[0] for part in range(3)]
    with Server(breaks_off(layout, groups, 1000, protocol, reset=True)) as server:
        done, found = convert(tmp_path, url(server.port, protocol), code=None)
    assert done.returncode in (2, 3)
    assert_reported(done)
    times = [] if found is None else found.time.tolist()
    assert times == list(range(1, 1 + len(times))) and len(times) < 24


def assert_reported(done):
    """One error line that names the source, and no internal one."""
    assert "mbs://" in done.stderr and "internal error" not in done.stderr, done.stderr


ABSURD_HANDSHAKES = {
    "text": b"HTTP/1.1 400 Bad Request\r\n\r\n", "zeros": bytes(16), "order": struct.pack("<4I", 2, 65536, 1, 0),
    "huge": struct.pack("<4I", 1, 0xFFFFFFFF, 1, 0), "two_gigabytes": struct.pack("<4I", 1, 0x7FFFFFFC, 1, 1),
    "tiny": struct.pack("<4I", 1, 12, 1, 1), "no_buffers": struct.pack("<4I", 1, 65536, 0, 1), "short": b"\1\0\0"}


@pytest.mark.parametrize("name", sorted(ABSURD_HANDSHAKES))
def test_a_garbage_handshake_is_reported(tmp_path, name):
    with Server(says(ABSURD_HANDSHAKES[name], then_ends=True)) as server:
        done, found = convert(tmp_path, url(server.port), code=None)
    assert done.returncode in ((0, 3) if name == "no_buffers" else (2, 3))
    if done.returncode:
        assert_reported(done)
    assert found is None or len(found.time) == 0


@pytest.mark.parametrize("layout", LAYOUTS, ids=name_of)
@pytest.mark.parametrize("place, value", [(0, 0xFFFFFFFF), (0, 0x7FFFFFF0), (40, 0xFFFFFFFF), (4, 0xDEADBEEF), (48, 0xFFFFFFFF)])
def test_absurd_lengths_in_buffers_are_reported(tmp_path, layout, place, value):
    """In the header of the second buffer, or in that of its first event; earlier data are kept."""
    first, second = (b"".join(layout.buffers(made(8, 40, 1 + 8 * part), 1 + part)[0][:1]) for part in range(2))
    raw = bytearray(layout.seen(second))
    struct.pack_into("<I", raw, place, value)
    if place == 40 and not layout.native:
        struct.pack_into("<I", raw, 0, value)
    if place == 40 and layout.native:
        struct.pack_into("<H", raw, 8, 0xFFFF)
    with Server(says(layout.handshake() + first + layout.seen(bytes(raw)), then_ends=True)) as server:
        done, found = convert(tmp_path, url(server.port), code=3)
    assert_reported(done)
    assert found.time.tolist()[:8] == list(range(1, 9))


@pytest.mark.parametrize("behaviour", ["silent", "handshake", "half a buffer"])
def test_a_half_open_server_does_not_keep_a_stop_waiting(tmp_path, behaviour):
    layout = Layout()
    half = layout.buffers(made(50))[0][0][:500]
    behave = {"silent": silent, "handshake": says(layout.handshake()), "half a buffer": says(layout.handshake() + half)}
    with Server(behave[behaviour]) as server:
        with Started(tmp_path, "convert", url(server.port), "--output", "made.epochs") as started:
            until(lambda: server.connections and server.connections[0].sent >= (0 if behaviour == "silent" else 16),
                  "a connection", so_far=started.text)
            until(lambda: started.ranks(), "a process that heeds signals")
            started.process.send_signal(signal.SIGTERM)
            started.process.wait(PATIENCE)
            assert started.process.returncode in (0, 2, 3), started.text()


def test_a_missing_server_is_reported(tmp_path):
    with Server(silent) as server:
        port = server.port
    done, found = convert(tmp_path, url(port), code=2)
    assert str(port) in done.stderr and len(done.stderr.splitlines()) == 1 and found is None


def assert_built(run, events):
    """The hits of a run are those of `events` by number."""
    expected, _ = built([sort_out(events).kept])
    names = ("events/time", "events/n_hits", "hits/time", "hits/channel", "payload")
    found = read_merged(run.merged)
    assert_same(*({name: datasets[name] for name in names} for datasets in (found, expected)))


@pytest.mark.parametrize("again", ["continues", "repeats"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("layout", [LAYOUTS[0], LAYOUTS[3]], ids=name_of)
def test_after_a_reconnection_nothing_is_there_twice(tmp_path, layout, protocol, again):
    """The server is killed in a buffer; when it is back it sends that again and what follows, or all from the start.

    The end of the second connection might be another loss: the run looks for the server again before it believes it."""
    parts = [made(8, 40, 1 + 8 * part) for part in range(6)]
    groups = [layout.buffers(part, 1 + layout.per_stream * number)[0] for number, part in enumerate(parts)]
    rest = groups[2:] if again == "continues" else groups
    with Server(breaks_off(layout, groups[:3], 700, protocol), sends(layout, rest, protocol)) as server:
        run = Run(tmp_path, [url(server.port, protocol)], "--define", "tag", "--reconnect", "2s", code=3)
        assert len(server.connections) == 2
    assert_reported(run.done)
    assert_built(run, [event for part in parts for event in part])
    assert_balanced(read_ledger(run.output))


def test_a_server_that_stays_away_is_reported(tmp_path):
    layout = Layout()
    events = made(50)
    with Server(breaks_off(layout, [*layout.buffers(events), *layout.buffers(made(50, first=51))], 500)) as server:
        with Started(tmp_path, "run", "--source", url(server.port), "--define", "tag", "--reconnect", "300ms", "--output",
                     "run.h5") as started:
            until(lambda: server.connections, "a connection", so_far=started.text)
            assert "mbs://" in started.wait(3)
