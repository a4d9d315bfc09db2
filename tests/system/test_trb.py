"""TRB boards over UDP: `eventloom send` of HLD files received by an independent receiver, and trb: sources fed by it and by
independent boards, over good and bad networks: every loss is counted, and no event has what is not its own."""

import contextlib
import random
import signal
import socket
import struct

import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from hld_reference import Event, Subevent, hld_file, read_hld, tdc_block, tdc_words
from interrupted import Started, until
from live import LiveRun, counts_of, drained, free_port, losses_of, merged, sockets
from monitored import Monitored
from program import DATA, Run, eventloom
from reference import INCOMPLETE
from results import assert_same, read_merged
from trb import TAG_ERROR, Board, Receiver, Trigger, built, datagram, network, read_datagram, tag_of, triggers

FILES = sorted((DATA / "hld").glob("*.hld"))
PATIENT = ["--epoch-timeout", "20s"]  # these boards are never late
WRAP = 2**24


def by_name(path):
    return path.stem


def played(path):
    """{subevent id: its triggers' events, as (number, hld_reference.Event) of that subevent alone} of a file, in
    order."""
    boards = {}
    for event in read_hld(path).events:
        for one in event.subevents:
            number = one.trigger_number >> 8
            boards.setdefault(one.id, []).append((number, Event(number, [one], 0x2001 | one.decoding >> 4 & 0xF)))
    return boards


class Live(LiveRun):
    """A run of boards, each at its own port."""

    def __init__(self, folder, ports, *options, keys="", np=None):
        self.ports = list(ports)
        keys = [keys] * len(self.ports) if isinstance(keys, str) else keys
        uris = [f"trb://:{port}" + (f"?{key}" if key else "") for port, key in zip(self.ports, keys)]
        super().__init__(folder, uris, "--define", "tag", *options, np=np)

    def __enter__(self):
        until(lambda: self.process.poll() is not None or all(sockets("udp", port) for port in self.ports), "all ports bound",
              so_far=self.text)
        assert self.process.poll() is None, self.text()
        return self

    @contextlib.contextmanager
    def held(self):
        """Stops the run: data sent meanwhile wait in the kernel, and are then received at once. Datagrams are late only
        by their order, however long the sender may have paused between them."""
        self.send(signal.SIGSTOP, 0)
        try:
            yield
        finally:
            self.send(signal.SIGCONT, 0)

    def ended(self, code):
        """Its events and its report, after it has been asked to end with the data sent."""
        for port in self.ports:
            drained(port)
        self.signal(signal.SIGINT)
        found = self.found(code)
        report = self.report()
        assert report["balanced"]
        return found, report


@contextlib.contextmanager
def boards(n, bits=24):
    made = [Board(free_port(), 0x8000 + 16 * k, bits) for k in range(n)]
    try:
        yield made
    finally:
        for board in made:
            board.close()


def in_turn(sent):
    """Sends each board's data, [(board, [triggers or bytes])], all of them together: one of each in turn."""
    for place in range(max(len(items) for _, items in sent)):
        for board, items in sent:
            board.send(*items[place:place + 1])


def events_only(found):
    return {name: column for name, column in found.items() if not name.startswith("ledger/") and name != "events/slice"}


def check(run, sources, code, optional=()):
    """The run has what `built` makes of [(board, triggers that arrived)]; its report."""
    expected, out_of_step, tag_errors = built([[board.event(t) for t in sorted(kept, key=lambda t: t.number)]
                                               for board, kept in sources], optional)
    found, report = run.ended(code)
    assert_same(events_only(found), expected)
    assert report["totals"]["events_tag_error"] == len(tag_errors)
    for source, hits in out_of_step.items():
        assert losses_of(report, source).get("out_of_step", 0) == hits
    return report


def unique(arrived):
    return list({id(t): t for t in arrived if isinstance(t, Trigger)}.values())


# What the tests themselves rely on


def test_framing_of_the_tests():
    one, empty = Subevent(0x8000, [1, 2, 3], 5 << 8 | 9), Subevent(0x8000, [], 6 << 8)
    raw = datagram(one)
    assert len(raw) == 8 + 32 + 32 and raw[:8] == struct.pack(">II", 40, 0x00020011) and read_datagram(raw) == [one]
    short = datagram(empty)
    assert len(short) == 24 + 32 and short[24:48] == short[:24] and read_datagram(short) == [empty]
    for wrong in (raw[:-1], raw[:-1] + b"x", raw + b"x", b"\0\0\0\x20" + raw[4:]):
        with pytest.raises((AssertionError, struct.error)):
            read_datagram(wrong)


# What is sent


@pytest.mark.parametrize("path", FILES, ids=by_name)
@pytest.mark.parametrize("passes", [1, 2])
def test_what_is_sent_is_what_the_file_has(path, passes):
    expected = played(path)
    with contextlib.closing(Receiver(len(expected))) as receiver:
        done = eventloom("send", path, "--to", receiver.uri, "--rate", 5000, "--loop", passes)
        found = receiver.taken()
    first = min(event[0][0] for event in expected.values())
    span = max(event[-1][0] for event in expected.values()) + 1 - first
    for ident, units, line in zip(expected, found, done.stdout.splitlines()):
        wanted = [event.subevents[0] for _, event in expected[ident]]
        assert f"{ident:#x}" in line and f"{passes * len(wanted)} datagrams" in line
        assert [one for unit in units[:len(wanted)] for one in unit] == wanted
        again = [one.trigger_number for unit in units[len(wanted):] for one in unit]
        assert again == [one.trigger_number + (span << 8) for one in wanted] * (passes - 1)


def test_send_refuses_what_it_cannot_do(tmp_path):
    comb = DATA / "hld" / "comb.hld"
    for words, part in [([comb, "--to", "trb://127.0.0.1:7777"], "; name one for each id"),
                        ([comb, "--to", "trb://127.0.0.1:7777,7778", "--speed", 2], "use --rate"),
                        ([comb, "--to", "trb://127.0.0.1:7777", "--to", "udp://127.0.0.1:7778"], "cannot be mixed"),
                        ([comb, "--to", "trb://127.0.0.1"], "PORT"),
                        ([DATA / "lmd" / "be_flat.lmd", "--to", "trb://127.0.0.1:7777"], "not an HLD file"),
                        ([comb, "--to", "udp://127.0.0.1:7777", "--rate", 5], "--rate is for trb://")]:
        assert part in eventloom("send", *words, code=2).stderr


# Nothing is lost


@pytest.mark.parametrize("path", FILES, ids=by_name)
@pytest.mark.parametrize("np", [None, 2])
def test_the_file_that_is_sent_is_built_again(tmp_path, path, np):
    """The events equal those of the run on the file, with the trigger's number instead of DABC's count of events: gaps
    are visible."""
    expected = played(path)
    ports = [free_port() for _ in expected]
    with Live(tmp_path, ports, *PATIENT, np=np) as run:
        eventloom("send", path, "--to", "trb://127.0.0.1:" + ",".join(map(str, ports)), "--rate", 20_000)
        found, report = run.ended(3)
    assert_same(events_only(found), built(list(expected.values()))[0])
    for source, events in enumerate(expected.values()):
        missing = events[-1][0] + 1 - events[0][0] - len(events)
        assert losses_of(report, source) == ({"lost": missing} if missing else {})


def test_data_of_a_file_are_the_same_hits(tmp_path):
    """Equal to those of the run on the file, except for the event's number."""
    path, port = DATA / "hld" / "comb.hld", [free_port(), free_port()]
    with Live(tmp_path, port, *PATIENT) as run:
        eventloom("send", path, "--to", "trb://127.0.0.1:" + ",".join(map(str, port)), "--rate", 20_000)
        found, _ = run.ended(3)
    file = read_merged(Run(tmp_path / "file", [path], "--define", "tag").merged)
    for one in (found, file):
        one["payload"][one["hits/first_payload"][:-1] + 3] = 0  # the event's number
    for name in ("events/n_hits", "hits/channel", "hits/first_payload", "payload"):
        assert np.array_equal(found[name], file[name]), name


def test_times_of_tdcs(tmp_path):
    """As in a file, except for the third word: the trigger's number and tag."""
    dice = random.Random(5)
    def words(n):
        hits = [(dice.randrange(64), 1000 + n, dice.randrange(2048), dice.randrange(1024), 1) for _ in range(dice.randrange(5))]
        return tdc_block(0xE000, tdc_words(hits)) + tdc_block(0x8000, [n])
    with boards(2) as (a, b):
        sent = [(board, [Trigger(n, words(n)) for n in range(100, 160)]) for board in (a, b)]
        with Live(tmp_path, [a.port, b.port], *PATIENT, keys="tdc") as run:
            in_turn(sent)
            found, report = run.ended(3)  # events without times of a board lack it
    events = [Event(t.number, [board.subevent(t)]) for board, items in sent for t in items]
    files = []
    for number, (board, items) in enumerate(sent):
        files.append(tmp_path / f"{number}.hld")
        files[-1].write_bytes(hld_file([Event(t.number, [board.subevent(t)]) for t in items]))
    file = read_merged(Run(tmp_path / "file", [f"hld:{path}?tdc" for path in files], "--define", "tag", code=3).merged)
    assert np.array_equal(found["payload"].reshape(-1, 3)[:, 2] >> 8, file["payload"].reshape(-1, 3)[:, 2])
    for one in (found, file):
        one["payload"].reshape(-1, 3)[:, 2] = 0
    assert len(events) == 120 and len(found["hits/time"]) > 50
    assert_same(events_only(found), file)


@pytest.mark.parametrize("bits, first", [(24, 0), (24, WRAP - 40), (16, 65_500), (16, 3 * 65_536 - 7), (24, 0x2BFFF0)])
def test_numbers_that_wrap_around(tmp_path, bits, first):
    """The first number has the board's own value, and later ones continue where it wraps."""
    with boards(3, bits) as made:
        begin = first % 2**bits
        sent = [(board, triggers(range(begin, begin + 200), k)) for k, board in enumerate(made)]
        with Live(tmp_path, [board.port for board in made], *PATIENT, keys=f"bits={bits}") as run:
            in_turn(sent)
            check(run, sent, 0)


@pytest.mark.parametrize("apart", [1, 30, 900])
@pytest.mark.parametrize("first, bits", [(50, 24), (WRAP - 20, 24), (65_530, 16)])
def test_boards_that_start_at_different_numbers(tmp_path, apart, first, bits):
    """Also if one of them has wrapped before it began: earlier events lack it."""
    with boards(2, bits) as (a, b):
        early, late = triggers(range(first, first + 1200), 0), triggers(range(first + apart, first + 1200), 1)
        with Live(tmp_path, [a.port, b.port], *PATIENT, keys=f"bits={bits}") as run:
            for board, items in ((b, late), (a, early)):
                board.send(*items)
            check(run, [(a, early), (b, late)], 3)


def test_several_subevents_and_events_in_a_datagram(tmp_path):
    with boards(2) as (a, b):
        items = triggers(range(60))
        with Live(tmp_path, [a.port, b.port], *PATIENT) as run:
            for n in range(0, 60, 3):
                a.send(datagram(*[a.subevent(t) for t in items[n:n + 3]]))
                for t in items[n:n + 3]:
                    b.send(datagram(b.subevent(t), b.subevent(t)))
            found, _ = run.ended(0)
    assert len(found["events/time"]) == 60 and set(found["events/n_hits"].tolist()) == {3}


def test_empty_subevents_are_data(tmp_path):
    with boards(2) as (a, b):
        sent = [(a, [Trigger(n, [n]) for n in range(80)]), (b, [Trigger(n, [n] * (n % 7 == 0)) for n in range(80)])]
        with Live(tmp_path, [a.port, b.port], *PATIENT) as run:
            in_turn(sent)
            report = check(run, sent, 0)
    assert report["totals"]["events"] == 80


def test_large_units(tmp_path):
    with boards(1) as (a,):
        sent = [(a, [Trigger(n, list(range(16_000 + n))) for n in range(20)])]
        with Live(tmp_path, [a.port], *PATIENT) as run:
            in_turn(sent)
            check(run, sent, 0)


# Bad networks and boards


@pytest.mark.parametrize("seed", range(6))
def test_networks_that_lose_double_and_reorder(tmp_path, seed):
    """Losses are counted by number; the remaining data are built, without anything foreign."""
    bits, first = [(24, 0), (16, 65_000), (24, WRAP - 300)][seed % 3]
    with boards(3, bits) as made:
        items = [triggers(range(first, first + 700), k) for k in range(3)]
        ways = [network(one, 10 * seed + k, loss=0.03, duplication=0.05, reordering=0.1) for k, one in enumerate(items)]
        with Live(tmp_path, [board.port for board in made], *PATIENT, keys=f"bits={bits}") as run:
            with run.held():
                in_turn([(board, way[0]) for board, way in zip(made, ways)])
            report = check(run, [(board, unique(way[0])) for board, way in zip(made, ways)], 3)
        for k, (arrived, lost, twice) in enumerate(ways):
            counts = counts_of(report, k)
            assert lost and twice and losses_of(report, k) == {"lost": len(lost)}
            assert (counts["missing_numbers"], counts["duplicates"]) == (len(lost), twice)
            assert counts["datagrams"] == len(arrived) and counts["reordered"] > 0 and counts["malformed"] == 0


def test_all_boards_lose_the_same(tmp_path):
    with boards(2) as (a, b):
        kept = [t for t in range(100) if t not in (50, 51, 70)]
        sent = [(board, triggers(kept, k)) for k, board in enumerate((a, b))]
        with Live(tmp_path, [a.port, b.port], *PATIENT) as run:
            in_turn(sent)
            report = check(run, sent, 3)
    assert [losses_of(report, k) for k in range(2)] == [{"lost": 3}] * 2


def test_garbage_and_wrong_trailers(tmp_path):
    """They are counted, and the data that they replace are lost; a single wrong number is not accepted."""
    dice = random.Random(3)
    with boards(2) as (a, b):
        items, sent, wrong = triggers(range(300), 0), [], 0
        for t in items:
            whole = a.datagram(t)
            sent.append(t)
            if t.number in (20, 90, 91, 250):
                place = dice.randrange(len(whole) - 32, len(whole))
                sent[-1] = whole[:place] + bytes([whole[place] ^ 1 << dice.randrange(8)]) + whole[place + 1:]
                wrong += 1
            if t.number % 25 == 10:
                sent += [dice.randbytes(dice.randrange(200)), whole[:-8], whole + bytes(8), b"",
                         datagram(b"\0" * 12), datagram(struct.pack(">IIII", 64, 0x00020011, 1, 1))]
                wrong += 6
        astray = Trigger(5_000, [1])
        sent.insert(150, astray)
        other = triggers(range(300), 1)
        with Live(tmp_path, [a.port, b.port], *PATIENT) as run:
            in_turn([(a, sent), (b, other)])
            report = check(run, [(a, [t for t in unique(sent) if t is not astray]), (b, other)], 3)
    counts = counts_of(report, 0)
    assert counts["malformed"] == wrong and counts["missing_numbers"] == 4 and counts["out_of_step"] == 1
    assert losses_of(report, 0) == {"lost": 4, "out_of_step": 1} and losses_of(report, 1) == {}


def test_the_flaw_of_the_firmware_is_repaired(tmp_path):
    """0x2b0000 comes in place of 0x2c0000, followed by 0x2c0001."""
    with boards(2) as (a, b):
        first, flawed = 0x2BFFF0, 0x2C0000
        good = triggers(range(first, first + 60), 1)
        bad = [Trigger(t.number, t.data, as_sent=0x2B0000 if t.number == flawed else None) for t in triggers(
            range(first, first + 60))]
        with Live(tmp_path, [a.port, b.port], *PATIENT) as run:
            in_turn([(a, bad), (b, good)])
            found, report = run.ended(0)
    assert len(found["events/time"]) == 60 and set(found["events/n_hits"].tolist()) == {2}
    assert counts_of(report, 0)["repaired_numbers"] == 1 and counts_of(report, 1)["repaired_numbers"] == 0


def test_the_flaw_at_the_last_wrap_and_beside_a_loss(tmp_path):
    with boards(2) as (a, b):
        kept = [n for n in range(WRAP - 20, WRAP + 20) if n not in (WRAP - 1, WRAP + 1)]
        bad = [Trigger(n, [n], as_sent=0xFF0000 if n == WRAP else None) for n in kept]
        other = triggers(range(WRAP - 20, WRAP + 20), 1)
        with Live(tmp_path, [a.port, b.port], *PATIENT) as run:
            a.send(*bad)
            b.send(*other)
            found, report = run.ended(3)
    assert len(found["events/time"]) == 40 and losses_of(report, 0) == {"lost": 2}
    assert counts_of(report, 0)["repaired_numbers"] == 1


@pytest.mark.parametrize("tdc", [False, True])
def test_tags_are_compared(tmp_path, tdc):
    """The subevent whose tag differs from the majority is not built in; of two, the second; the event reports that."""
    words = lambda n: tdc_block(0xE000, tdc_words([(1, 7, n % 2000, 3, 1)])) if tdc else [n]  # noqa: E731
    with boards(3) as made:
        sent = [(board, [Trigger(n, words(n), tag=tag_of(n) ^ (n in wrong)) for n in range(100)])
                for board, wrong in zip(made, ((), (20, 40), (60, 61)))]
        with Live(tmp_path, [board.port for board in made], *PATIENT, keys="tdc" if tdc else "") as run:
            in_turn(sent)
            if not tdc:
                check(run, sent, 3)
                return
            found, report = run.ended(3)
    flagged = {int(t): int(m) for t, f, m in zip(found["events/time"], found["events/flags"], found["events/sources_missing"])
               if f == INCOMPLETE | TAG_ERROR}
    assert flagged == {20: 2, 40: 2, 60: 4, 61: 4} and report["totals"]["events_tag_error"] == 4


def test_a_shifted_board_is_found_by_its_tags(tmp_path):
    """Its numbers are one too high for a while, as after a lost trigger pulse."""
    with boards(3) as made:
        sent = [(board, triggers(range(400), k)) for k, board in enumerate(made)]
        shifted = [Trigger(t.number + 1, t.data, tag=tag_of(t.number)) if 100 <= t.number < 200 else t for t in sent[2][1]
                   if t.number != 200]
        sent[2] = (made[2], shifted)
        with Live(tmp_path, [board.port for board in made], *PATIENT) as run:
            in_turn(sent)
            report = check(run, sent, 3)
    assert report["totals"]["events_tag_error"] > 90


# Boards that die and return


@pytest.mark.parametrize("bits", [24, 16])
@pytest.mark.parametrize("away", [300, 65_536, 65_536 + 40])
def test_a_board_that_dies_and_returns(tmp_path, bits, away):
    """Also if its numbers have wrapped meanwhile: it returns where the others are."""
    with boards(2, bits) as (a, b):
        with Live(tmp_path, [a.port, b.port], "--epoch-timeout", "300ms", "--epochs-per-slice", 4,
                  keys=f"bits={bits}") as run:
            in_turn([(a, triggers(range(500), 0)), (b, triggers(range(500), 1))])
            for begin in range(500, 500 + away, 3000):
                a.send(*triggers(range(begin, min(begin + 3000, 500 + away)), 0))
                drained(a.port)
            run.until_reported("warning", "slices are built without it")
            last = range(500 + away, 1500 + away)
            in_turn([(a, triggers(last, 0)), (b, triggers(last, 1))])
            found, report = run.ended(3)
    missing = dict(zip(found["events/time"].tolist(), found["events/sources_missing"].tolist()))
    whole = [t for t, mask in missing.items() if mask == 0]
    assert list(missing) == list(range(1500 + away)) and set(missing.values()) == {0, 2}
    assert whole[:480] == list(range(480)) and not any(500 <= t < 500 + away for t in whole) and whole[-1] == 1499 + away
    payload = found["payload"][found["hits/first_payload"][:-1] + 3]
    assert np.array_equal(payload, found["hits/time"] % 2**bits)
    assert losses_of(report, 1)["lost"] == away == counts_of(report, 1)["missing_numbers"]
    assert len(whole) + losses_of(report, 1).get("late", 0) == 1500


@pytest.mark.parametrize("comes", [False, True])
def test_an_optional_board(tmp_path, comes):
    """It may be silent from the beginning, or fall silent: nothing waits, and no event counts it as missing."""
    with boards(3) as (a, b, c):
        with Live(tmp_path, [a.port, b.port, c.port], *PATIENT, keys=["", "", "optional"]) as run:
            sent = [(a, triggers(range(400), 0)), (b, triggers(range(400), 1))]
            some = triggers(range(100), 2) if comes else []
            in_turn([*sent, (c, some)])
            found, report = run.ended(0)
    assert len(found["events/time"]) == 400 and not found["events/flags"].any()
    assert found["events/n_hits"].sum() == 800 + len(some) and not losses_of(report, 2)


@pytest.mark.parametrize("apart", [333, 666, 5000])
def test_an_optional_board_that_is_rarely_triggered(tmp_path, apart):
    """Its events are built, although their slice is built while the board is silent; events without it are not a
    loss."""
    rare = [100 + k * apart for k in range(4)]
    with boards(2) as (a, b):
        uris = [f"trb://:{a.port}", f"trb://:{b.port}?optional"]
        with Monitored(tmp_path, uris, "--define", "tag", *PATIENT, "--epochs-per-slice", "2") as run:
            until(lambda: sockets("udp", a.port) and sockets("udp", b.port), "all ports bound", so_far=run.text)
            for k, number in enumerate(rare):
                b.send(*triggers([number], 1))
                drained(b.port)
                for first in range(k * apart, (k + 1) * apart, 111):
                    a.send(*triggers(range(first, min(first + 111, (k + 1) * apart))))
                    drained(a.port)
                if k == 0:
                    run.listening()
                run.until_status(lambda s: s["ledger"]["hits_in"] > k * apart + 140, f"slices behind number {number}")
            run.send(signal.SIGINT, 0)
            run.wait(0)
            said = run.text()
    found = merged(tmp_path)
    assert found["events/time"].tolist() == list(range(4 * apart)) and not found["events/flags"].any()
    assert found["events/time"][found["events/n_hits"] == 2].tolist() == rare
    assert "are missing" not in said and "--flush-after" not in said


def test_a_board_that_restarts(tmp_path):
    """All counters restart at 0: the numbers continue after the next wrap."""
    with boards(2) as (a, b):
        with Live(tmp_path, [a.port, b.port], *PATIENT) as run:
            for first in (5_000, 0):
                in_turn([(a, triggers(range(first, first + 300), 0)), (b, triggers(range(first, first + 300), 1))])
            found, report = run.ended(3)
    assert found["events/time"].tolist() == [*range(5_000, 5_300), *range(WRAP, WRAP + 300)]
    assert set(found["events/n_hits"].tolist()) == {2} and not found["events/flags"].any()
    assert counts_of(report, 0)["restarts"] == 1


# What a run reports


def test_other_boards_are_ignored(tmp_path):
    port = free_port()
    with Live(tmp_path, [port]) as run:
        assert {one.address for one in sockets("udp", port)} == {"0100007F"}
        run.signal(signal.SIGINT)
        run.process.wait(30)


def test_mistakes(tmp_path):
    port = free_port()
    for uris, part in [([f"trb://:{port}?bits=20"], "use bits=24 or bits=16"), ([f"trb://:{port},{port}"], "given twice"),
                       ([f"trb://:{port}?optional=maybe"], "use optional or optional=no"), ([f"trb://:{port}?tdc=5"], "not the address of a TDC"), (["trb:7000"], "expected trb://[ADDR]:PORT"),
                       (["trb://:99999"], "not a UDP address"), ([f"trb://:{port}?payload=3"], "payload")]:
        words = [word for uri in uris for word in ("--source", uri)]
        assert part in eventloom("run", *words, "--define", "tag", "--output", tmp_path / "run.h5", code=2).stderr


def test_a_port_in_use(tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        uri = f"trb://:{taken.getsockname()[1]}"
        done = eventloom("run", "--source", uri, "--define", "tag", "--output", tmp_path / "run.h5", code=2)
    assert done.stderr.rstrip().endswith("another program or source uses this port: stop it, or choose another port"), done.stderr


def test_a_recording_builds_the_same(tmp_path):
    """`--record` keeps numbers, tags and which boards are optional."""
    with boards(3) as made:
        sent = [(board, [Trigger(n, [n], tag=tag_of(n) ^ (k == 1 and n == 30)) for n in range(80) if (k, n) != (2, 50)])
                for k, board in enumerate(made)]
        with Live(tmp_path / "live", [b.port for b in made], *PATIENT, "--record", "rec", keys=["", "", "optional"]) as run:
            in_turn(sent)
            check(run, sent, 3, optional=(2,))
    again = Run(tmp_path / "again", sorted((tmp_path / "live" / "rec").glob("*.epochs")), "--define", "tag", code=3)
    assert_same(read_merged(again.merged), read_merged(tmp_path / "live" / "merged.h5"))


def test_convert(tmp_path):
    with boards(1) as (a,), Started(tmp_path, "convert", f"trb://:{a.port}", "--output", "made.epochs") as made:
        until(lambda: sockets("udp", a.port), "the port is bound", so_far=made.text)
        a.send(*triggers(range(40, 90)))
        drained(a.port)
        made.send(signal.SIGINT, 0)
        made.wait(0)
    hits = hits_of_file(read_epochs_file(tmp_path / "made.epochs"))
    assert hits.time.tolist() == list(range(40, 90))


@pytest.mark.parametrize("key, code", [("", 3), ("?optional", 0), ("?optional=yes", 0), ("?optional=true", 0), ("?optional=no", 3),
                                       ("?optional=false", 3)])
def test_recorded_sources_may_be_optional(tmp_path, key, code):
    for name, last in (("a", 50), ("b", 20)):
        (tmp_path / f"{name}.hld").write_bytes(hld_file([Event(n, [Subevent(0x8000, [n])]) for n in range(1, last + 1)]))
    run = Run(tmp_path / "run", [tmp_path / "a.hld", f"{tmp_path}/b.hld{key}"], "--define", "tag", code=code)
    flags = read_merged(run.merged)["events/flags"].tolist()
    assert flags == [0] * 20 + [INCOMPLETE if code else 0] * 30
