"""Boards that send over UDP: the result of their streams equals that of the recorded files, minus lost data, every hit
of which is counted."""

import random
import signal

import pytest

from datagrams import DATA, END, FRAME_BYTES, HEADER, MARK
from epochs_file import epochs_file
from interrupted import Started
from live import (Board, LiveRun, Recording, assert_slices_as_replayed, counts_of, datasets, drained, free_port, losses,
                  losses_of, masked, merged, rows, send, udp, until_it_hears_the_end)
from program import Run
from reference import INCOMPLETE
from relay import Relay
from results import assert_same, event_keys

PATIENT = ["--epoch-timeout", "20s"]  # these sources are never late
# 100 slices of 1 ms, two epoch buffers of each source in most.
STREAMS = {"sources": 3, "rate": 20_000, "timing": "poisson", "hits": 8, "width": "50ns", "noise": 200_000, "payload": 2,
           "duration": "100ms", "seed": 7, "epochs-per-buffer": 50}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording(tmp_path_factory.mktemp("recording"), "gap:25ns,4", 100, **STREAMS)


def live(folder, recording, uris, *options, np=None):
    return LiveRun(folder, uris, *recording.meaning, *PATIENT, *options, np=np)


def on_one_port(port):
    return [udp(port, sources="0,1,2")]


# Nothing is lost

@pytest.mark.parametrize("np", [None, 2, 3])
@pytest.mark.parametrize("ports", [1, 3])
def test_same_as_the_files(tmp_path, recording, np, ports):
    port = [free_port() for _ in range(ports)]
    uris = on_one_port(port[0]) if ports == 1 else [udp(number) for number in port]
    with live(tmp_path, recording, uris, np=np).listening() as run:
        if ports == 1:
            senders = [send(recording.paths, port[0], "--speed", "0.5")]
        else:
            senders = [send([path], number, "--speed", "0.5") for path, number in zip(recording.paths, port)]
        for sender in senders:
            with sender:
                sender.wait(0)
        assert_same(run.found(0), recording.replay)
        report = run.report()
    assert report["balanced"] and report["exit_code"] == 0 and report["hits_read"] == recording.sent()
    assert len(recording.replay["payload"]) > 1000


def test_sources_are_numbered_as_the_uri_has_them(tmp_path, recording):
    order = [2, 0, 1]
    expected = Run(tmp_path / "files", [recording.uris[n] for n in order], *recording.meaning)
    port = free_port()
    with live(tmp_path / "live", recording, [udp(port, sources="2,0,1")]).listening() as run:
        with send(recording.paths, port) as sender:
            sender.wait(0)
        assert_same(run.found(0), datasets(expected.merged))


def test_generated_in_real_time(tmp_path, recording):
    """`generate --live` sends what it writes."""
    port, made = free_port(), tmp_path / "made"
    words = [word for name, value in STREAMS.items() for word in (f"--{name}", value)]
    with live(tmp_path / "run", recording, on_one_port(port), np=2).listening() as run, \
            Started(tmp_path, "generate", *words, "--live", "--to", f"udp://127.0.0.1:{port}", "--output", made) as maker:
        maker.wait(0)
        assert_same(run.found(0), recording.replay)
    assert [path.read_bytes() for path in sorted(made.glob("*.epochs"))] == [path.read_bytes() for path in recording.paths]


def test_ipv6(tmp_path, recording):
    port = free_port()
    with live(tmp_path, recording, [f"udp://[::1]:{port}?sources=0,1,2"]).listening() as run:
        with send(recording.paths, port, host="[::1]") as sender:
            sender.wait(0)
        assert_same(run.found(0), recording.replay)


@pytest.mark.parametrize("fragment", [256, 9_000, 60_000])
def test_fragments_of_any_size_in_any_order(tmp_path, recording, fragment):
    """The fragments of one epoch buffer arrive in reverse order, the first one twice."""
    port = free_port()
    with live(tmp_path, recording, [udp(port)]).listening() as run, \
            Board(recording.files[0], port, fragment=fragment) as board:
        board.header()
        for number in range(len(board.file.buffers)):
            datagrams = board.data(number)
            board.send(*datagrams[::-1], datagrams[0])
            board.next = number + 1
            drained(port)
        board.end()
        found = run.found(0)
    expected = Run(tmp_path / "file", recording.uris[:1], *recording.meaning)
    assert_same(found, datasets(expected.merged))


def test_the_header_comes_late(tmp_path, recording):
    """Data before it cannot be used or are kept: in both cases all of them are in the ledger, and none in a wrong
    event."""
    port = free_port()
    with live(tmp_path, recording, [udp(port)]).listening() as run, Board(recording.files[0], port) as board:
        board.to(1_000)
        board.header()
        board.to(2_000)
        drained(port)
        board.end()
        run.process.wait(60)
        found = merged(tmp_path)
    alone = Run(tmp_path / "file", recording.uris[:1], *recording.meaning)
    kept = datasets(alone.merged)
    assert found["ledger/hits_in"].sum() == recording.hits(0)
    assert set(losses(found)) <= {"lost"} and run.process.returncode == (3 if losses(found) else 0)
    late = [row for number, row in rows(found).items() if number >= 10]
    assert late == [row for number, row in rows(kept).items() if number >= 10]


def test_a_pause_within_an_epoch_buffer(tmp_path, recording):
    """As with a sender that is stopped for a moment: nothing that arrives shows a loss, and there is none."""
    port = free_port()
    with live(tmp_path, recording, [udp(port)], "--stall-warning", "200ms").listening() as run, \
            Board(recording.files[0], port) as board:
        board.header()
        board.to(4_000, silently=True)
        first, *rest = board.data(board.next)
        board.send(first)
        run.until_reported("warning", f":{port}")
        board.send(*rest)
        board.next += 1
        board.to(8_000)
        drained(port)
        board.end()
        found = run.found(0)
    assert_same(found, datasets(Run(tmp_path / "file", recording.uris[:1], *recording.meaning).merged))


def test_no_header_ever(tmp_path, recording):
    """The URI states the number of payload words; tick and epoch are the run's."""
    port = free_port()
    with live(tmp_path, recording, [udp(port, payload=2)]).listening() as run, Board(recording.files[0], port) as board:
        for epoch in range(500, 10_001, 500):
            board.to(epoch)
            drained(port)
        board.end()
        found = run.found(0)
    assert_same(found, datasets(Run(tmp_path / "file", recording.uris[:1], *recording.meaning).merged))


# Loss, duplicates, disorder on the way

def gaps(file, lost):
    """For the missing epoch buffers: epochs [from, to) between existing ones."""
    found, begin, missing = [], 0, False
    for buffer in file.buffers:
        if buffer.sequence in lost:
            missing = True
            continue
        if missing:
            found.append((begin, buffer.first_epoch))
        begin, missing = buffer.end_epoch, False
    return found + ([(begin, file.buffers[-1].end_epoch)] if missing else [])


def may_be_masked(recording, lost):
    """{slice: mask} of the slices in which epoch buffers may be missing, judging by their neighbours."""
    found = {}
    for number, file in enumerate(recording.files):
        for begin, end in gaps(file, lost[number]):
            for slice_ in range(begin // recording.slice_epochs, (end - 1) // recording.slice_epochs + 1):
                found[slice_] = found.get(slice_, 0) | 1 << number
    return found


@pytest.mark.parametrize("seed, np, rates", [
    pytest.param(1, None, {"loss": 0.01}, id="loss1"),
    pytest.param(2, 2, {"loss": 0.05}, id="loss5-np2"),
    pytest.param(3, None, {"duplication": 0.05}, id="duplicates"),
    pytest.param(4, None, {"reordering": 0.05}, id="disorder"),
    pytest.param(5, 3, {"loss": 0.01, "duplication": 0.01, "reordering": 0.01}, id="all1-np3"),
    pytest.param(6, None, {"loss": 0.05, "duplication": 0.05, "reordering": 0.05}, id="all5"),
])
def test_a_bad_network(tmp_path, recording, seed, np, rates):
    port = free_port()
    with live(tmp_path, recording, on_one_port(port), np=np).listening() as run, \
            Relay(("127.0.0.1", port), seed=seed, **rates) as relay, \
            send(recording.paths, relay.port, "--speed", "0.2", "--datagram", "600") as sender:
        sender.wait(0)
        relay.settle()
        lost = {number: relay.incomplete(number, file.buffers) for number, file in enumerate(recording.files)}
        hits = sum(recording.files[number].buffers[k].n_hits for number in lost for k in lost[number])
        found = run.found(3 if hits else 0)
        report = run.report()
    happened = {"loss": relay.lost, "duplication": relay.doubled, "reordering": relay.delayed}
    assert all(happened[name][DATA] > 0 for name in rates), "the relay did nothing"
    assert bool(hits) == ("loss" in rates)
    assert losses(found) == ({"lost": hits} if hits else {})
    assert found["ledger/hits_in"].sum() == recording.sent()
    if not hits:
        assert_same(found, recording.replay)
    assert sorted(event_keys(found)) == sorted(recording.events_without(lost))
    assert_slices_as_replayed(recording, found)
    possible = may_be_masked(recording, lost)
    assert all(mask & ~possible.get(number, 0) == 0 for number, mask in masked(found).items())
    for number, file in enumerate(recording.files):
        of_source = sum(file.buffers[k].n_hits for k in lost[number])
        assert losses_of(report, number) == ({"lost": of_source} if of_source else {})


def test_the_first_datagrams_are_lost(tmp_path, recording):
    """Those of one of two boards: the run begins with the first slice that both have, and earlier data are counted."""
    port = free_port()
    with live(tmp_path, recording, [udp(port, sources="0,1")]).listening() as run, \
            Board(recording.files[0], port) as whole, Board(recording.files[1], port) as late:
        for board in (whole, late):
            board.header()
        late.skip_to(450)
        for epoch in range(100, 10_001, 100):
            whole.to(epoch)
            late.to(epoch)
            drained(port)
        whole.end()
        late.end()
        found, report = run.found(0), run.report()
    both = rows(datasets(Run(tmp_path / "files", recording.uris[:2], *recording.meaning).merged))
    assert rows(found) == {number: row for number, row in both.items() if number >= 5}
    assert found["events/time"].min() >= 5 * recording.slice_ticks
    before = [counts_of(report, number)["hits_before_the_run"] for number in (0, 1)]
    assert before == [recording.hits(0, 0, 500), recording.hits(1, 450, 500)]


def test_the_last_datagrams_are_lost(tmp_path, recording):
    """Only the end follows them, which states how many hits there were."""
    port = free_port()
    with live(tmp_path, recording, [udp(port)]).listening() as run, Board(recording.files[0], port) as board:
        board.header()
        board.to(8_000)
        drained(port)
        board.skip_to(20_000)
        board.end()
        found = run.found(3)
    assert losses(found) == {"lost": recording.hits(0, 8_000)}
    assert found["ledger/hits_in"].sum() == recording.hits(0)
    assert min(masked(found)) >= 80, "slices before the loss are complete"


# As fast as it goes

@pytest.fixture(scope="module")
def heavy(tmp_path_factory):
    """Some 120 MB in two streams."""
    return Recording(tmp_path_factory.mktemp("heavy"), "gap:20ns,8", 100, sources=2, rate=20_000, timing="poisson", hits=10,
                     width="50ns", noise=1_000_000, payload=24, duration="600ms", seed=8)


def test_two_hundred_megabytes_a_second(tmp_path, heavy):
    """Data that the machine cannot receive are in the ledger, and nothing else is wrong."""
    port = free_port()
    size = sum(path.stat().st_size for path in heavy.paths)
    assert size > 100e6
    with LiveRun(tmp_path, [udp(port, sources="0,1")], *heavy.meaning, np=2).listening() as run:
        with send(heavy.paths, port, "--speed", "0", "--bandwidth", "200000000", "--session", "5") as sender:
            reported = sender.wait(0)
        until_it_hears_the_end(run, port, reported, session=5, epoch=60_000)
        found, report = merged(tmp_path), run.report()
    print(f"{size / 1e6:.0f} MB; {losses(found)} of {found['ledger/hits_in'].sum()} hits in {report['seconds']:.2f} s")
    assert set(losses(found)) <= {"lost", "congested"}
    assert run.process.returncode == (3 if losses(found) else 0)
    assert found["ledger/hits_in"].sum() == heavy.replay["ledger/hits_in"].sum()
    assert_slices_as_replayed(heavy, found)
    assert not losses(found) or masked(found)


# Hostile peers

HUGE, FAR = 2**32 - 8, 2**64 - 1


def volley(choose, board):
    """Datagrams that no board of the run has sent, indistinguishable from those of an attacker."""
    stranger = lambda: choose.choice([7, 8, 2**31, 2**32 - 1, choose.getrandbits(32) | 4])  # noqa: E731
    yield choose.randbytes(choose.choice([0, 1, 39, 40, 41, 500, 1400]))
    yield b"ELVD" + choose.randbytes(choose.choice([4, 36, 300]))
    for kind in (HEADER, DATA, MARK, END, 0, 5, 255):
        contents = choose.randbytes(choose.choice([0, 8, 16, 64, 200]))
        yield board.framed(kind, contents, source=stranger())
        spoilt = bytearray(board.framed(kind, contents, choose.getrandbits(64), choose.getrandbits(32), HUGE))
        spoilt[4] ^= 1
        yield bytes(spoilt)
    for source in (stranger(), stranger()):
        yield board.framed(DATA, choose.randbytes(100), FAR, HUGE - 8, HUGE, source=source)
        yield board.framed(DATA, choose.randbytes(100), 3, 0, HUGE, source=source)
        yield board.framed(END, (FAR).to_bytes(8, "little") * 2, FAR, source=source)
    whole = board.data(choose.randrange(len(board.file.buffers)))[0]
    yield whole[:choose.randrange(len(whole))]
    yield whole + b"\0"
    for wrong in ({"version": 2}, {"zero": 1}, {"zero_too": 9}):
        yield board.framed(DATA, whole[FRAME_BYTES:], 0, 0, 64, **wrong)
    if board.next > 0:
        number = choose.randrange(board.next)
        yield from board.data(number) if choose.random() < 0.5 else board.data(number)[:1]


@pytest.mark.parametrize("np", [1, 2])
def test_hostile_peers_at_the_port(tmp_path, recording, np):
    """Garbage, wrong checksums, absurd sizes, replays, ids that were not requested: counted, and without effect."""
    choose, port = random.Random(9), free_port()
    with live(tmp_path, recording, on_one_port(port), np=np).listening() as run:
        boards = [Board(file, port) for file in recording.files]
        for board in boards:
            board.header()
        for epoch in range(250, 10_001, 250):
            for board in boards:
                board.to(epoch)
                board.send(*volley(choose, board))
                drained(port)
        for source in range(1000, 3000):
            boards[0].send(boards[0].framed(MARK, bytes(16), source=source))
        drained(port)
        for board in boards:
            board.end()
        found, report = run.found(0), run.report()
    assert_same(found, recording.replay)
    counts = [counts_of(report, number) for number in range(3)]
    assert all(count["duplicates"] > 0 for count in counts), counts
    of_all = {name: sum(count.get(name, 0) for count in counts) for name in ("foreign", "malformed")}
    assert of_all["foreign"] > 2000 and of_all["malformed"] > 1000, of_all
    assert report["peak_rss_bytes"] < 100e6


@pytest.mark.parametrize("with_data", [False, True])
@pytest.mark.parametrize("session", [1, 77])
def test_strangers_in_the_names_of_boards(tmp_path, recording, session, with_data):
    """From other addresses, in the boards' sessions or others: without effect, named and counted. Only data may have
    been a board's: then the exit code says so."""
    port = free_port()
    with live(tmp_path, recording, on_one_port(port)).listening() as run:
        boards = [Board(file, port) for file in recording.files]
        strangers = [Board(file, port, session=session) for file in recording.files]
        for stranger in strangers:
            stranger.send(stranger.mark(0, END, 0, 0))  # before the boards begin
        for board in boards:
            board.header()
        for epoch in range(1000, 10_001, 1000):
            for board, stranger in zip(boards, strangers):
                board.to(epoch)
                stranger.send(other_header(stranger), stranger.mark(FAR // 2), *(stranger.data(99) if with_data else []),
                              stranger.mark(epoch, END, 5, 5))
                drained(port)
        for board in boards:
            board.end()
        found, report = run.found(3 if with_data else 0), run.report()
        assert "another address counts" in run.text() and "it ends a session" in run.text()
    assert_same(found, recording.replay)
    for number in range(3):
        counts = counts_of(report, number)
        assert counts["foreign"] > 30 and counts["restarts"] == counts["contradictions"] == 0, counts


def other_header(board):
    """The stream's header with another epoch length."""
    return board.framed(HEADER, bytes(8) + epochs_file([], source=board.source, epoch_ticks=5_000)[:128])


# By name: datagrams of a board, with right checksums.
NONSENSE = {
    "marks the end of time": lambda b: [b.opening(), *b.data(0), b.mark(FAR), *b.data(1), b.mark(FAR, END, FAR, FAR)],
    "marks an age to come": lambda b: [b.opening(), *b.data(0), b.mark(1 << 40, MARK, 0, 1), *b.data(1)],
    "numbers leap": lambda b: [b.opening(), *b.data(0), b.framed(DATA, b.data(0)[0][FRAME_BYTES:], FAR - 1, 0, 1 << 20),
                               *b.data(1)],
    "huge buffers": lambda b: [b.opening(), *(b.framed(DATA, bytes(1400), n, 0, 256 << 20) for n in range(2000))],
    "ends at once": lambda b: [b.opening(), b.mark(0, END, FAR, FAR)],
    "session after session": lambda b: [b.framed(whole[9], whole[FRAME_BYTES:], session=n) for n in range(500)
                                        for whole in (b.opening(), b.data(0)[0], b.mark(0))],
    "no stream header": lambda b: [b.framed(HEADER, bytes(8) + bytes(range(256))), b.framed(HEADER, b""), *b.data(0)],
    "another header": lambda b: [b.opening(), *b.data(0), other_header(b), *b.data(1)],
    "fragments disagree": lambda b: [b.opening(), *(b.framed(DATA, bytes([n]) * 600, 1, 300 * n, 4096 + 8 * n)
                                                    for n in range(12)), *b.data(2)],
}


@pytest.mark.parametrize("name", NONSENSE)
def test_a_board_that_talks_nonsense(tmp_path, recording, name):
    """No crash, no hang, no unbounded memory; the other board is served."""
    ports = [free_port(), free_port()]
    options = ["--epochs-per-slice", "500", "--epoch-timeout", "200ms", "--segment-size", "1", "--live-buffer", "32MiB"]
    with LiveRun(tmp_path, map(udp, ports), "--define", recording.define, *options, np=1).listening() as run, \
            Board(recording.files[0], ports[0]) as good, Board(recording.files[1], ports[1]) as rogue:
        good.header()
        good.to(500)
        for part in NONSENSE[name](rogue):
            rogue.send(part)
        good.end()
        run.until_parts(18)
        run.signal(signal.SIGINT)
        run.process.wait(30)
        assert run.process.returncode in (0, 3), run.text()
        found, report = merged(tmp_path), run.report()
    assert report["peak_rss_bytes"] < 200e6
    assert found["ledger/hits_in"].sum() + counts_of(report, 0).get("hits_before_the_run", 0) >= recording.hits(0)
    alone = set(recording.events_without({1: range(10**6), 2: range(10**6)}))
    of_the_good = [key for key in event_keys(found, INCOMPLETE) if all(source == 0 for _, source, _ in key)]
    assert all(key in alone for key in of_the_good)
