"""`inspect` of live sources, and --find: events one by one, as their senders sent them."""

import re
import signal
import struct

import pytest

from epochs_file import hits_of_file, read_epochs_file
from hld_reference import Event as HldEvent
from hld_reference import Subevent as HldSubevent
from hld_reference import hld_file, padded, read_hld
from interrupted import Started, until
from live import drained, free_port, sockets, udp
from lmd_reference import Event as LmdEvent
from lmd_reference import Subevent as LmdSubevent
from lmd_reference import read_lmd, white_rabbit
from mbs import HEADER_BYTES, Layout, Server, Serving, sends
from program import DATA, eventloom, generate, only_line
from test_mbs import by_name, lmd_file, made, stored

SMALL = DATA / "lmd" / "var_small.lmd"
RECORDED = [SMALL, DATA / "lmd" / "classic_16k.lmd"]
EVENT = re.compile(r"event (\d+)  (.*)")
ITEM = re.compile(r"  (\S.*)")
WORDS = re.compile(r"    +([0-9a-f]+(?: +[0-9a-f]+)*)$")
HIT = re.compile(r" +(\d+)  channel 0x([0-9a-f]{7})  payload (\d+)  ")


def mbs(port, protocol="transport"):
    return f"mbs://127.0.0.1:{port}/{protocol}"


def expected(events):
    """For LMD: [(number, description of the event, [(description of a subevent, data), ...])]"""
    return [(event.number, f"trigger {event.trigger}  subevents {len(event.subevents)}  bytes {8 + 2 * event.dlen}",
             [(lmd_item(s), list(s.data)) for s in event.subevents]) for event in events]


def lmd_item(s):
    return f"control {s.control}  crate {s.crate}  procid {s.procid}  type {s.type}/{s.subtype}  bytes {8 + 2 * s.dlen}"


def expected_of_hld(events):
    def error(ident):
        return "  error bit" if ident >> 31 else ""

    def item(s):
        return (f"id 0x{s.id & 0x7FFFFFFF:04x}  trigger {s.decoding >> 4 & 15}  number {s.trigger_number >> 8}  "
                f"tag 0x{s.trigger_number & 255:02x}  {s.byte_order}-endian  bytes {s.size}{error(s.id)}")
    return [(e.number, f"trigger {e.trigger}{error(e.id)}  subevents {len(e.subevents)}  "
                       f"bytes {32 + sum(padded(s.size) for s in e.subevents)}",
             [(item(s), list(s.data)) for s in e.subevents]) for e in events]


def shown(text, base=10):
    found = []
    for line in text.splitlines():
        if event := EVENT.match(line):
            found.append((int(event[1]), event[2], []))
        elif words := WORDS.match(line):
            found[-1][2][-1][1].extend(int(word, base) for word in words[1].split())
        elif re.match(r"mbs:|trb:", line):
            break
        elif item := ITEM.match(line):
            found[-1][2].append((item[1], []))
    return found


@pytest.mark.parametrize("hex_digits", [False, True])
@pytest.mark.parametrize("path", RECORDED, ids=by_name)
def test_events_of_a_server(tmp_path, path, hex_digits):
    with Serving(tmp_path, path, "--once") as serving:
        done = eventloom("inspect", mbs(serving.port), *(["--hex"] if hex_digits else []))
    assert shown(done.stdout, 16 if hex_digits else 10) == expected(read_lmd(path).events)
    assert f": {len(stored(path))} events, " in done.stdout


def test_ends_after_so_many_events(tmp_path):
    layout = Layout()
    with Server(sends(layout, layout.buffers(made(50)), "stream")) as server:
        done = eventloom("inspect", mbs(server.port, "stream"), "--events", 7)
    assert [number for number, *_ in shown(done.stdout)] == [1, 2, 3, 4, 5, 6, 7]
    bytes_received = int(re.search(r": 7 events, 7 hits, (\d+) bytes, 0 hits lost", done.stdout)[1])
    assert bytes_received >= sum(len(event) for event in stored(lmd_file(tmp_path, made(7))))


def test_finds_an_event_as_it_comes(tmp_path):
    with Serving(tmp_path, SMALL, "--once") as serving:
        wanted = read_lmd(SMALL).events[3]
        done = eventloom("inspect", mbs(serving.port), "--find", f"number={wanted.number}")
    assert shown(done.stdout) == expected([wanted])
    with Serving(tmp_path, SMALL, "--once") as serving:
        done = eventloom("inspect", mbs(serving.port), "--find", "number=4000000", code=2)
    assert "4000000 was not received" in done.stderr


@pytest.mark.parametrize("path", RECORDED, ids=by_name)
def test_finds_a_recorded_event(path):
    events = read_lmd(path).events
    for wanted in (events[0], events[len(events) // 2], events[-1]):
        done = eventloom("inspect", path, "--find", f"number={wanted.number}", "--hex")
        assert shown(done.stdout, 16) == expected([wanted])
    only_line(eventloom("inspect", path, "--find", "number=4000000", code=2), "--find", "4000000")


@pytest.mark.parametrize("hex_digits", [False, True])
def test_finds_an_event_of_hld(tmp_path, hex_digits):
    """Both byte orders, error bits, tags, more words than a line holds, none, words of other lengths, no subevent."""
    events = [HldEvent(7, [HldSubevent(0x8000, list(range(20)), 0x12345A), HldSubevent(0x80008010, [], 0x12345B),
                           HldSubevent(0x8020, [0xFFFFFFFF, 5], 1, 0x000100D1, "little", 7)], 0x8000200D),
              HldEvent(8), HldEvent(9, [HldSubevent(0x8000, [9])])]
    path = tmp_path / "made.hld"
    path.write_bytes(hld_file(events))
    for wanted, read in zip(events, read_hld(path).events, strict=True):
        done = eventloom("inspect", path, "--find", f"number={wanted.number}", *(["--hex"] if hex_digits else []))
        assert shown(done.stdout, 16 if hex_digits else 10) == expected_of_hld([read])
        assert all(len(line) < 100 for line in done.stdout.splitlines())


def test_the_number_in_the_header_where_it_is_another(tmp_path):
    path = lmd_file(tmp_path, [LmdEvent(5, [LmdSubevent(1, [n])]) for n in (20, 21)])
    done = eventloom("inspect", f"lmd:{path}?number=word:0", "--find", "number=21")
    assert done.stdout.startswith("event 21  number 5  trigger 1  subevents 1  bytes ")


def test_finds_hits_that_stand_for_themselves(tmp_path):
    (tmp_path / "made.bin").write_bytes(struct.pack("<9I", 4, 1, 10, 5, 2, 20, 5, 3, 30))
    uri = f"packed:{tmp_path}/made.bin?record=12&time=u32le@0&channel=u32le@4&payload=u32le@8&numbered=yes"
    assert eventloom("inspect", uri, "--find", "number=5").stdout == \
        "event 5  hits 2\n  channel 0x0000002  payload 20\n  channel 0x0000003  payload 30\n"


def test_hits_with_time_stamps(tmp_path):
    events = [LmdEvent(n, [LmdSubevent(n, white_rabbit(time))]) for n, time in ((1, 5000), (2, 9000))]
    with Serving(tmp_path, lmd_file(tmp_path, events), "--once") as serving:
        done = eventloom("inspect", mbs(serving.port) + "?time=wr", "--hex")
    lines = done.stdout.splitlines()
    for k, (event, time) in enumerate(zip(events, (5000, 9000))):
        assert lines[2 * k] == f"{time:16}  number {event.number}  trigger 1  {lmd_item(event.subevents[0])}"
        assert [int(word, 16) for word in lines[2 * k + 1].split()] == white_rabbit(time)


def test_damage_before_the_event_that_is_found(tmp_path):
    """The second event's first subevent is longer than the event."""
    events = stored(SMALL)
    data = bytearray(SMALL.read_bytes())
    at = HEADER_BYTES + len(events[0]) + 16
    data[at:at + 4] = b"\xff" * 4
    path = tmp_path / "damaged.lmd"
    path.write_bytes(data)
    wanted = read_lmd(SMALL).events[-1]
    done = eventloom("inspect", path, "--find", f"number={wanted.number}", code=3)
    assert shown(done.stdout) == expected([wanted]) and str(path) in done.stderr


def test_rates(tmp_path):
    """Rates of 900 events per second over about one and a half seconds."""
    path = lmd_file(tmp_path, made(1400))
    with Serving(tmp_path, path, "--once", "--rate", 900, "--flush-after", "10ms") as serving:
        done = eventloom("inspect", mbs(serving.port), "--rate")
    rates = re.findall(r"^ +(\d+) events/s +(\d+) hits/s +([\d.]+) MB/s +(\d+) lost  mbs://", done.stdout, re.M)
    assert rates and not shown(done.stdout)
    assert all(events == hits and lost == "0" and float(rate) > 0 for events, hits, rate, lost in rates)
    assert ": 1400 events, 1400 hits, " in done.stdout


class TestBoards:
    @pytest.fixture(scope="class")
    def recording(self, tmp_path_factory):
        return generate(tmp_path_factory.mktemp("boards"), sources=2, rate=50_000, duration="20ms", hits=4, width="50ns",
                        noise=20_000, payload=1, seed=3)

    @staticmethod
    def look(folder, recording, *words, send=()):
        """The output of `inspect` for two boards."""
        port = free_port()
        with Started(folder, "inspect", udp(port, sources="0,1", payload=1), *words) as looking:
            until(lambda: sockets("udp", port), "it listens", so_far=looking.text)
            eventloom("send", *recording, "--to", f"udp://127.0.0.1:{port}", "--speed", 0.5, *send)
            looking.process.wait(60)
            return looking.process.returncode, looking.output.read_text(), looking.errors.read_text()

    def test_hits_of_two_boards(self, tmp_path, recording):
        code, text, _ = self.look(tmp_path, recording)
        assert code == 0, text
        for source, uri in enumerate(recording):
            hits = hits_of_file(read_epochs_file(uri.removeprefix("file:")))
            lines = [line for line in text.splitlines() if HIT.match(line) and f"board {source}" in line]
            found = [(int(m[1]), int(m[2], 16), int(m[3])) for m in map(HIT.match, lines)]
            assert found == list(zip(hits.time, hits.channel, hits.payload, strict=True))


def test_events_of_a_trb_board(tmp_path):
    file = DATA / "hld" / "var_small.hld"
    subevents = {}
    for event in read_hld(file).events:
        for subevent in event.subevents:
            subevents.setdefault(subevent.id, []).append(subevent)
    ports = [free_port() for _ in subevents]
    with Started(tmp_path, "inspect", f"trb://127.0.0.1:{ports[0]}") as looking:
        until(lambda: sockets("udp", ports[0]), "it listens", so_far=looking.text)
        done = eventloom("send", file, "--to", "trb://127.0.0.1:" + ",".join(map(str, ports)), "--rate", 2000)
        first = int(re.search(r"subevents 0x([0-9a-f]+) to [^ ]+:%d:" % ports[0], done.stdout)[1], 16)
        drained(ports[0])
        looking.process.send_signal(signal.SIGINT)
        looking.process.wait(30)
        found = shown(looking.output.read_text())
    assert found == [expected_of_hld([HldEvent(s.trigger_number >> 8, [s], 0x2000 | s.decoding >> 4 & 15)])[0] for s in subevents[first]]


def test_a_signal_ends_it(tmp_path):
    port = free_port()
    with Started(tmp_path, "inspect", udp(port, sources="4")) as looking:
        until(lambda: sockets("udp", port), "it listens", so_far=looking.text)
        looking.process.send_signal(signal.SIGINT)
        assert looking.process.wait(30) == 0
        assert ": 0 events, 0 hits, 0 bytes, 0 hits lost" in looking.output.read_text()


@pytest.mark.parametrize("words, said", [
    ((SMALL, "--rate"), "--rate"), ((SMALL, "--hex"), "--hex"), ((SMALL, "--json", "--find", "number=1"), "--json"),
    ((SMALL, "--find", "1"), "number=N"), ((SMALL, "--find", "number=x"), "--find"), ((SMALL, "--tdc"), "--tdc"),
    (("udp://127.0.0.1:9", "--find", "number=1"), "--find"), ((SMALL, "--tdc", "--find", "number=1"), "--tdc"),
    ((SMALL, "udp://127.0.0.1:9"), "not together"), (("mbs://127.0.0.1:9/transport",), "--reconnect TIME of run and convert waits")], ids=str)
def test_mistakes(words, said):
    only_line(eventloom("inspect", *words, code=2), said)
