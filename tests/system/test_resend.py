"""Boards that resend on request: a bad network loses no hits, and neither side can be made to flood a third."""

import contextlib
import itertools
import random
import socket
import struct
from pathlib import Path

import pytest

from datagrams import DATA, HOST, Receiver
from fast_crc import fast_crc32c
from interrupted import until
from live import LiveRun, Recording, counts_of, free_port, losses, send, udp
from replies import (BLOCK, MOST_PIECES, OFFER, OFFER_FIELDS, PIECE_FIELDS, RECEIVING, REQUEST, STATUS, STATUS_FIELDS,
                     ResendingBoard, decode_reply, sealed_fast)
from results import assert_same
from two_way_relay import BACK, THERE, TwoWayRelay

PATIENT = ["--epoch-timeout", "20s"]
STREAMS = {"sources": 3, "rate": 20_000, "timing": "poisson", "hits": 8, "width": "50ns", "noise": 200_000, "payload": 2,
           "duration": "100ms", "seed": 7, "epochs-per-buffer": 50}
BAD = {"loss": 0.01, "duplication": 0.01, "reordering": 0.02}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording(tmp_path_factory.mktemp("recording"), "gap:25ns,4", 100, **STREAMS)


def live(folder, recording, uri, np=None):
    return LiveRun(folder, [uri], *recording.meaning, *PATIENT, np=np).listening()


def total(report, name, sources=3):
    return sum(counts_of(report, source)[name] for source in range(sources))


# Nothing is lost

@pytest.mark.parametrize("seed, np, rates", [(1, None, BAD), (2, 2, BAD), (3, None, BAD | {"loss": 0.05})])
def test_a_bad_network(tmp_path, recording, seed, np, rates):
    port = free_port()
    with live(tmp_path, recording, udp(port, sources="0,1,2"), np) as run, TwoWayRelay((HOST, port), seed, **rates) as relay:
        with send(recording.paths, relay.port, "--speed", "0.5", "--datagram", "600") as sender:
            sender.wait(0)
            reported = sender.text()
        assert_same(run.found(0), recording.replay)
        report = run.report()
    assert report["balanced"] and report["exit_code"] == 0 and report["hits_read"] == recording.sent()
    assert relay.lost[THERE] > 5 and "sent again on request" in reported
    assert total(report, "pieces_recovered") > 0 and total(report, "lost_buffers") == 0
    assert total(report, "duplicates") > 0, "repeated datagrams, those sent again included, are no loss"
    assert 0 < relay.bytes[BACK] <= relay.bytes[THERE] / 2


def test_an_independent_board(tmp_path, recording):
    """The board is written from formats/README.md alone. Its requests name what the relay lost, and little else."""
    port, file = free_port(), recording.files[0]
    with live(tmp_path, recording, udp(port, sources="0,1,2")) as run, TwoWayRelay((HOST, port), 4, **BAD) as relay, \
            contextlib.ExitStack() as stack:
        boards = [stack.enter_context(ResendingBoard(file, relay.port, fragment=300)) for file in recording.files]
        for board in boards:
            for _ in range(3):  # losing one must not matter
                board.header()
        for epoch in range(0, file.buffers[-1].end_epoch, 200):
            for board in boards:
                board.to(epoch)
                board.serve()
        for board in boards:
            board.end()
        until(lambda: [board.serve() for board in boards] and run.process.poll() is not None, "the end", so_far=run.text)
        assert_same(run.found(0), recording.replay)
    assert relay.lost[THERE] > 5 and sum(board.again for board in boards) > 0


def test_the_first_and_the_last_datagram_of_each_stream(tmp_path, recording):
    """Each data datagram is lost once at random; the first and the last of each stream always."""
    port, seen, rng = free_port(), set(), random.Random(5)
    last = {file.source: file.buffers[-1].sequence for file in recording.files}

    def loses(datagram):
        kind, source, offset, sequence = datagram[9], *struct.unpack_from("<I4xIQ", datagram, 12)
        what = (source, sequence, offset)
        if kind != DATA or what in seen:
            return False
        seen.add(what)
        return sequence in (0, last[source]) or rng.random() < 0.1
    with live(tmp_path, recording, udp(port, sources="0,1,2")) as run, \
            TwoWayRelay((HOST, port), loss=1.0, spare=lambda datagram: not loses(datagram)) as relay:
        with send(recording.paths, relay.port, "--speed", "0.5") as sender:
            sender.wait(0)
        assert_same(run.found(0), recording.replay)
    assert relay.lost[THERE] > 6


# As before, where a board does not take requests, or does not answer them

@pytest.mark.parametrize("window", ["0", "64MiB"])
def test_what_cannot_be_sent_again_is_counted(tmp_path, recording, window):
    """The relay loses five epoch buffers of the middle for good."""
    port, lost = free_port(), {17, 18, 19, 40, 60}

    def spared(datagram):
        return datagram[9] != DATA or struct.unpack_from("<Q", datagram, 24)[0] not in lost
    with live(tmp_path, recording, udp(port, sources="0,1,2")) as run, \
            TwoWayRelay((HOST, port), loss=1.0, spare=spared) as relay:
        with send(recording.paths, relay.port, "--speed", "0.5", "--resend", window) as sender:
            sender.wait(0)
        found, report = run.found(3), run.report()
    hits = sum(file.buffers[number].n_hits for file in recording.files for number in lost)
    assert losses(found) == {"lost": hits} and total(report, "lost_buffers") == 3 * len(lost)
    if window == "0":
        assert relay.datagrams[BACK] == 0 and total(report, "pieces_requested") == 0
    else:  # some thirty requests before giving up
        assert 3 * len(lost) <= total(report, "pieces_requested") <= 3 * len(lost) * 60
        assert relay.bytes[BACK] <= relay.bytes[THERE] / 2


def test_a_board_that_only_promises(tmp_path, recording):
    """It announces that it accepts requests, but accepts none: the gap is counted, and the requests are few."""
    port, file = free_port(), recording.files[0]
    with live(tmp_path, recording, udp(port)) as run, ResendingBoard(file, port, answers=False) as board:
        board.header()
        middle = file.buffers[30].first_epoch
        board.to(middle)
        gone = file.buffers[board.next]
        board.next += 1
        board.end()
        until(lambda: board.serve() is not None and run.process.poll() is not None, "the end", so_far=run.text)
        found = run.found(3)
    assert losses(found) == {"lost": gone.n_hits}
    assert {piece for request in board.requests for piece in request.pieces()} == {(gone.sequence, 0, 0)}
    assert 1 <= len(board.requests) <= 60


# No flood

def test_no_reply_to_strangers(tmp_path, recording):
    """Neither a sender of nonsense, nor one that forges a datagram of the board from another address."""
    port, file = free_port(), recording.files[0]
    with live(tmp_path, recording, udp(port)) as run, ResendingBoard(file, port) as board, \
            ResendingBoard(file, port) as forger, ResendingBoard(file, port, source=9, session=4) as other:
        board.header()
        board.to(file.buffers[10].first_epoch)
        junk = random.Random(6)
        for _ in range(50):
            forger.send(junk.randbytes(junk.randrange(1, 300)))
            forger.send(sealed_fast(REQUEST, PIECE_FIELDS.pack(0, 0, 0), file.source, board.session))
        forger.header()  # the board's own session, from elsewhere
        forger.next = 12
        forger.to(file.buffers[20].first_epoch)
        other.header()  # a board outside the run, with a gap
        other.send(*other.data(0), *other.data(3))
        board.end()
        until(lambda: board.serve() is not None and run.process.poll() is not None, "the end", so_far=run.text)
        run.found(3)  # because of other boards and nonsense at the port
        assert forger.serve() == other.serve() == 0
        assert counts_of(run.report(), 0)["lost_hits"] == 0


def requests(pieces, session, source=0):
    """Datagrams that request these pieces."""
    packed = [PIECE_FIELDS.pack(*piece) for piece in pieces]
    return [sealed_fast(REQUEST, b"".join(packed[at:at + MOST_PIECES]), source, session)
            for at in range(0, len(packed), MOST_PIECES)]


@pytest.mark.parametrize("kind", ["right", "wrong session", "wrong source", "nonsense", "another address"])
def test_requests_that_a_sender_takes(recording, kind):
    """`eventloom send` resends what the right receiver requests, to that one alone, and no more than it has sent; it
    ignores everything else."""
    junk = random.Random(7)
    with Receiver() as receiver, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        with send(recording.paths[:1], int(receiver.uri.rpartition(":")[2]), "--speed", "0.1", "--session", "5") as sender:
            until(lambda: receiver.count(DATA) > 20, "data")
            session, source = 6 if kind == "wrong session" else 5, 1 if kind == "wrong source" else 0
            for _ in range(100):
                pieces = [(number, 0, 0) for number in range(receiver.count(DATA))]
                if kind == "nonsense":
                    receiver.answer(junk.randbytes(junk.randrange(1, 3000)))
                    pieces = [(junk.randrange(2**64), junk.randrange(2**32), junk.randrange(2**32)) for _ in range(200)]
                for request in requests(pieces, session, source):
                    if kind == "another address":
                        stranger.sendto(request, receiver.peer)
                    else:
                        receiver.answer(request)
            sender.wait(0)
        data = [raw for raw in receiver.raw() if raw[9] == DATA]
        stranger.setblocking(False)
        with pytest.raises((BlockingIOError, ConnectionRefusedError)):
            stranger.recv(1)
    distinct = set(data)
    assert sum(map(len, data)) <= 2 * sum(map(len, distinct)) + 65536
    assert max(data.count(raw) for raw in distinct) <= 33
    assert (len(data) > len(distinct)) == (kind == "right")


def example(title):
    """The bytes that formats/README.md prints below a line that begins with these words."""
    page = (Path(__file__).parents[2] / "formats/README.md").read_text()
    lines = iter(page[page.index(f"\n{title}, ") + 1:].splitlines()[1:])
    return bytes.fromhex("".join(line[6:53] for line in itertools.takewhile(lambda line: line[:1] == " ", lines)))


def test_examples_of_the_page():
    request, offer, status = (decode_reply(example(name)) for name in ("request", "offer", "status"))
    assert (request.kind, request.source, request.session) == (REQUEST, 3, 0x5EED0001)
    assert request.pieces() == [(4, 0, 0), (5, 1432, 2864)]
    zeros = fast_crc32c(bytes(2_500_000))
    assert (offer.kind, OFFER_FIELDS.unpack_from(offer.contents)) == (OFFER, (2_500_000, zeros, 1))
    assert (status.kind, status.source, status.session) == (STATUS, 7, offer.session)
    assert STATUS_FIELDS.unpack_from(status.contents) == (RECEIVING, 128 << 10, BLOCK + 5728 - 1432, zeros, 1)
    assert (status.sequence, status.offset, status.pieces(STATUS_FIELDS.size)) == (1, 5728, [(1, 2864, 4296)])
