"""`send --configure`: a file reaches a board completely, over a bad network and after an interruption; a misbehaving
board does no harm."""

import os
import random
import signal
import socket
import struct

import pytest

from datagrams import HOST
from interrupted import Started, until
from program import eventloom, only_line
from replies import (COMPLETE, OFFER, PIECE, RECEIVING, STATUS, STATUS_FIELDS, BulkBoard, decode_reply, sealed_fast)
from two_way_relay import BACK, THERE, TwoWayRelay

MIB = 1 << 20


def written(folder, size, seed=1):
    path = folder / "firmware.bin"
    path.write_bytes(random.Random(seed).randbytes(size))
    return path


def configure(path, port, *options, code=0):
    return eventloom("send", "--configure", path, "--to", f"udp://{HOST}:{port}", *options, code=code, timeout=60)


def test_fifty_mebibytes_on_a_bad_network(tmp_path):
    path = written(tmp_path, 50 * MIB + 12_345)
    with BulkBoard() as board, \
            TwoWayRelay(board.address, 1, loss=0.01, duplication=0.005, reordering=0.01) as relay:
        done = configure(path, relay.port, "--datagram", "8192")
        assert board.data == path.read_bytes()
    assert relay.lost[THERE] > 30 and relay.lost[BACK] > 3
    assert f"board 7 has all {path.stat().st_size} bytes" in done.stdout and "MB/s" in done.stdout
    assert board.piece_bytes <= 1.2 * path.stat().st_size, "what has arrived is not sent again"
    assert relay.bytes[BACK] <= relay.bytes[THERE], "the board answers with no more than it has been sent"


@pytest.mark.parametrize("size, datagram", [(1, "1472"), (1431, "1472"), (1433, "1472"), (MIB, "576"), (MIB + 1, "1472"),
                                            (3 * MIB, "65507")])
def test_sizes(tmp_path, size, datagram):
    path = written(tmp_path, size)
    with BulkBoard() as board, TwoWayRelay(board.address, 2, loss=0.02, reordering=0.02) as relay:
        configure(path, relay.port, "--datagram", datagram)
        assert board.data == path.read_bytes()


def test_again_what_is_there(tmp_path):
    """A second attempt sends nothing; another file replaces the first."""
    path = written(tmp_path, MIB)
    with BulkBoard() as board:
        configure(path, board.address[1])
        sent = board.piece_bytes
        done = configure(path, board.address[1])
        assert board.piece_bytes == sent and f"{MIB} bytes were there before" in done.stdout
        written(tmp_path, MIB, seed=2)
        configure(path, board.address[1])
        assert board.data == path.read_bytes()


def test_continues_after_a_break(tmp_path):
    path = written(tmp_path, 8 * MIB)
    to = ["--to"]
    with BulkBoard() as board, TwoWayRelay(board.address, 3, loss=0.01) as relay:
        to.append(f"udp://{HOST}:{relay.port}")
        with Started(tmp_path, "send", "--configure", path, *to, "--bandwidth", "4MB") as sender:
            until(lambda: board.piece_bytes > 2 * MIB, "a part has arrived", so_far=sender.text)
            sender.send(signal.SIGTERM, 0)
            sender.wait(75)
            assert "the same command continues" in sender.text()
        sent = board.piece_bytes
        assert sent < 6 * MIB
        done = configure(path, relay.port)
        assert board.data == path.read_bytes()
        assert "bytes were there before" in done.stdout
        assert board.piece_bytes - sent <= 8 * MIB - sent + MIB, "what the board had has not been sent again"


def test_a_bandwidth(tmp_path):
    """At a limit of 4 MB/s, 2 MB take at least 0.45 s, by the program's own clock."""
    path = written(tmp_path, 2_000_000)
    with BulkBoard() as board:
        done = configure(path, board.address[1], "--bandwidth", "4MB")
        assert board.data == path.read_bytes()
    assert float(done.stdout.partition(" in ")[2].split()[0]) >= 0.45


# Boards that misbehave

def test_no_answer(tmp_path):
    path = written(tmp_path, 1000)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
        deaf.bind((HOST, 0))
        only_line(configure(path, deaf.getsockname()[1], code=2), "no answer")
        deaf.setblocking(False)
        offers = []
        while len(offers) < 100:
            try:
                offers.append(decode_reply(deaf.recv(1 << 16)))
            except BlockingIOError:
                break
    assert {offer.kind for offer in offers} == {OFFER} and 5 < len(offers) < 30, "nothing but offers, ever less often"


def test_no_listener(tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gone:
        gone.bind((HOST, 0))
        port = gone.getsockname()[1]
    only_line(configure(written(tmp_path, 1000), port, code=2), "no answer")


def test_a_board_falls_silent(tmp_path):
    path = written(tmp_path, 2 * MIB)
    with BulkBoard(deaf_after=MIB) as board:
        done = configure(path, board.address[1], code=75)
    assert "board 7 fell silent" in done.stderr and "the same command continues" in done.stderr


def test_a_board_refuses(tmp_path):
    with BulkBoard(refusal="no room\x1b[31m".encode()) as board:
        done = configure(written(tmp_path, 1000), board.address[1], code=2)
    only_line(done, "no room\\x1b[31m")
    assert board.piece_bytes == 0


def test_a_board_damages_the_file(tmp_path):
    path = written(tmp_path, 100_000)
    with BulkBoard(spoils=True) as board:
        done = configure(path, board.address[1], code=3)
    assert "checksum" in done.stderr and done.stdout == ""


def nonsense(seed):
    """Replies of all kinds, the worst with the right session."""
    rng = random.Random(seed)

    def answer(board, peer):
        session = getattr(board, "session", 0)
        size = getattr(board, "size", 0)
        status = STATUS_FIELDS.pack(rng.choice([COMPLETE, 0, 9, 2**32 - 1]), rng.randrange(2**32), rng.randrange(2**64),
                                    rng.randrange(2**32), rng.randrange(2**32))
        checksum = board._offer[1] if getattr(board, "_offer", None) else 0
        claims = STATUS_FIELDS.pack(RECEIVING, 2**32 - 1, min(size, 5), checksum, 0)
        wild = struct.pack("<QII", rng.randrange(2**64), rng.randrange(2**32), rng.randrange(2**32))
        for datagram in (rng.randbytes(rng.randrange(2000)), sealed_fast(STATUS, status, 7, session),
                         sealed_fast(STATUS, status, 7, rng.randrange(2**32)),
                         sealed_fast(STATUS, claims, 7, session, sequence=rng.randrange(2**64)),
                         sealed_fast(STATUS, claims + 60 * wild, 7, session),
                         sealed_fast(PIECE, b"x" * 50, 7, session, whole=100),
                         sealed_fast(STATUS, status, 7, session)[:-1] + b"?"):
            if rng.random() < 0.2:
                board.socket.sendto(datagram, peer)
    return answer


@pytest.mark.parametrize("seed", range(3))
def test_nonsense_replies(tmp_path, seed):
    """The transfer completes: contradicting replies are ignored."""
    path = written(tmp_path, 3 * MIB)
    with BulkBoard(nonsense=nonsense(seed)) as board:
        configure(path, board.address[1])
        assert board.data == path.read_bytes()
        assert board.piece_bytes <= 4 * path.stat().st_size + 17 * MIB


def test_answers_from_elsewhere(tmp_path):
    """A stranger that knows the session claims that everything has arrived, or refuses: only the board's own answers
    count."""
    path = written(tmp_path, 2 * MIB)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        def lies(board, peer):
            if getattr(board, "_offer", None):
                for state in (2, 4):
                    contents = STATUS_FIELDS.pack(state, 0, board.size, board._offer[1], board._offer[2])
                    stranger.sendto(sealed_fast(STATUS, contents, 7, board.session), peer)
        with BulkBoard(nonsense=lies) as board:
            configure(path, board.address[1])
            assert board.data == path.read_bytes()


def configure_all(path, boards, *options, code=0):
    to = [word for board in boards for word in ("--to", f"udp://{HOST}:{board.address[1]}")]
    return eventloom("send", "--configure", path, *to, *options, code=code, timeout=60)


def test_several_boards(tmp_path):
    """All at once, each with a line of its own."""
    path = written(tmp_path, 2 * MIB)
    with BulkBoard(number=1) as first, BulkBoard(number=2) as second, BulkBoard(number=3) as third:
        boards = [first, second, third]
        done = configure_all(path, boards, "--bandwidth", "100MB")
        assert all(board.data == path.read_bytes() for board in boards)
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    for line, board in zip(lines, boards):
        assert f"udp://{HOST}:{board.address[1]}: board {board.number} has all {2 * MIB} bytes" in line


@pytest.mark.parametrize("bad, reported, code", [
    (dict(refusal=b"no room"), "refuses the file: no room", 2), (dict(deaf_after=MIB // 2), "fell silent", 75),
    (dict(spoils=True), "another checksum", 3)])
def test_one_of_several_boards_fails(tmp_path, bad, reported, code):
    """The others get the file; which one does not, and why, is reported."""
    path = written(tmp_path, MIB)
    with BulkBoard(number=1, **bad) as failing, BulkBoard(number=2) as working:
        done = configure_all(path, [failing, working], code=code)
        assert working.data == path.read_bytes()
    assert f"board 2 has all {MIB} bytes" in only_line_of(done.stdout)
    error = only_line_of(done.stderr)
    assert f"{HOST}:{failing.address[1]}: " in error and reported in error


def only_line_of(text):
    [line] = [line for line in text.splitlines() if " of 1.0 MiB (" not in line]
    return line


BAD_USAGE = [
    (["F"], "--to"),
    (["none.bin", "--to", "U"], "none.bin"),
    ([os.curdir, "--to", "U"], "not a file"),
    (["EMPTY", "--to", "U"], "is empty"),
    (["F", "--to", "U", "--to", "U"], "given twice"),
    (["F", "--to", "U", "--speed", "2"], "--speed"),
    (["F", "stream.epochs", "--to", "U"], "leave out the sources"),
    (["F", "--to", "U", "--session", "3"], "--session"),
    (["F", "--to", "trb://127.0.0.1:7100"], "UDP address"),
    (["F", "--to", "U", "--datagram", "70000"], "datagram"),
]


@pytest.mark.parametrize("words, reported", BAD_USAGE, ids=[" ".join(words) for words, _ in BAD_USAGE])
def test_bad_usage(tmp_path, words, reported):
    (tmp_path / "empty").write_bytes(b"")
    names = {"F": written(tmp_path, 10), "U": "udp://127.0.0.1:17000", "EMPTY": tmp_path / "empty"}
    only_line(eventloom("send", "--configure", *[names.get(word, word) for word in words], code=2, timeout=20, cwd=tmp_path),
              reported)
