"""A live run that was killed or stopped, and resumed: data that boards and servers sent meanwhile are lost, counted by
their own counts or reported as unknown, at the end of the terminal's text and in the exit code."""

import contextlib
import json
import os
import signal
import socket
import struct
import time

import pytest

from datagrams import HEADER
from interrupted import STOPPED, gone, lists, parts, until
from live import HOST, Board, LiveRun, Recording, counts_of, drained, free_port, losses, masked, udp
from lmd_reference import Event, Subevent, white_rabbit
from mbs import Layout, Server
from results import read_ledger
from test_live_ends import quiet_after, until_received

STREAMS = {"sources": 2, "rate": 20_000, "timing": "poisson", "hits": 8, "width": "50ns", "noise": 200_000,
           "duration": "40ms", "seed": 5, "epochs-per-buffer": 10}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording(tmp_path_factory.mktemp("recording"), "gap:25ns,4", 100, **STREAMS)


def kill(run):
    """kill -9 of all ranks, like a machine that breaks down."""
    ranks = run.ranks().values()
    for pid in ranks:
        os.kill(pid, signal.SIGKILL)
    until(lambda: all(gone(pid) for pid in ranks), "no rank is left")
    run.process.wait(30)


def unheard(board, epoch):
    """The board continues while no run listens."""
    while board.next < len(board.file.buffers) and board.file.buffers[board.next].first_epoch < epoch:
        for datagram in board.data(board.next):
            with contextlib.suppress(ConnectionRefusedError):
                board.send(datagram)
        board.next += 1
    board._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)  # clears the error of the last one


def listed_without_name(folder):
    """Parts that were listed, and are therefore finished, when a kill came before they had their final names."""
    lines = [line for path in lists(folder) for line in path.read_text().split("\n")[1:-1]]  # a torn line does not count
    names = [json.loads(line.split(" ", 1)[1])["part"]["name"] for line in lines]
    return [folder / f"{name}.partial" for name in names if not (folder / name).exists()]


def finished(folder):
    """Hits that were built, by the ledgers of the finished parts: without lost ones."""
    ledgers = [read_ledger(path) for path in [*parts(folder), *listed_without_name(folder)]]
    return sum(int(ledger["hits_in"].sum()) - int(ledger["hits_dropped_lost"].sum()) for ledger in ledgers)


def last_lines(run):
    """The lines that a person sees on a terminal at the end."""
    return "\n".join(run.text().splitlines()[-10:])


def ended(run, port, code=3):
    drained(port)
    run.ranks()
    run.signal(signal.SIGINT)
    return run.found(code)


# np, options, and what a detector adds to the times
WAYS = {"alone": (None, []), "filters": (2, ["--filters", 1]), "offsets": (None, ["--detector", "map.csv"])}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_what_a_board_sent_meanwhile_is_lost(tmp_path, recording, how, way):
    """All data sent are in the ledger: built, or lost by the board's own count."""
    np, more = WAYS[way]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "map.csv").write_text("source,channel,offset_ns,mask\n0,,700,\n1,,-300,\n1,5,,1\n")
    port = free_port()
    words = [*recording.meaning, "--segment-size", "1", "--builders", "1", *more]
    uris = [udp(port, sources="0,1")]
    with Board(recording.files[0], port) as a, Board(recording.files[1], port) as b:
        with LiveRun(tmp_path / "run", uris, *words, np=np).listening() as run:
            for epoch in range(100, 1_600, 100):
                for board in (a, b):
                    board.header()
                    board.to(epoch)
            run.until_parts(8)
            if how == "killed":
                kill(run)
            else:
                run.signal(signal.SIGUSR1)
                run.wait(STOPPED)
        assert list((tmp_path / "run").glob("run.live-*.place"))
        before = finished(tmp_path / "run")
        for board in (a, b):
            unheard(board, 2_500)
        with LiveRun(tmp_path / "run", uris, *words, "--resume", np=np).listening() as run:
            received = sum(recording.hits(source, 2_500) for source in (0, 1))
            for board in (a, b):
                board.header()
                board.end()
            found = run.found(3)
            reported, report = last_lines(run), run.report()
    assert before > 0
    assert found["ledger/hits_in"].sum() == recording.sent()
    lost, known = losses(found)["lost"], recording.sent() - before - received
    # With corrected times, the first of them lie in a finished slice.
    assert lost == known if way != "offsets" else known <= lost < known + 100, (lost, known)
    assert sum(counts_of(report, n)["hits_dropped_lost"] for n in (0, 1)) == lost
    assert reported.count("lost, by its own count") == 2, reported
    assert report["totals"]["incomplete_slices"] > 0 and masked(found)
    assert not list((tmp_path / "run").glob("run.live-*"))


def places(folder):
    """Files that hold a place. A mark that a run listens may go while it is looked at."""
    held = []
    for path in folder.glob("run.live-*.place"):
        with contextlib.suppress(FileNotFoundError):
            if path.read_text().count("\n") == 2:
                held.append(path)
    return held


@pytest.mark.parametrize("np", [None, 2, 3])
def test_killed_twice_before_a_part_is_finished(tmp_path, recording, np):
    """All data sent since the run began are in the ledger: what was received is lost, too."""
    port = free_port()
    words = [*recording.meaning, "--builders", "1", "--resume"]
    uris = [udp(port, sources="0,1")]
    with Board(recording.files[0], port) as a, Board(recording.files[1], port) as b:
        for begin in (0, 1_000):
            with LiveRun(tmp_path, uris, *words, np=np).listening() as run:
                for board in (a, b):
                    board.header()
                    board.to(begin + 500)
                drained(port)
                until(lambda: (tmp_path / "run.h5").exists() and len(places(tmp_path)) == 2, "it has begun", so_far=run.text)
                kill(run)
            for board in (a, b):
                unheard(board, begin + 1_000)
        with LiveRun(tmp_path, uris, *words, np=np).listening() as run:
            received = sum(recording.hits(source, 2_000) for source in (0, 1))
            for board in (a, b):
                board.header()
                board.end()
            found = run.found(3)
            reported = run.text()
    assert found["ledger/hits_in"].sum() == recording.sent()
    assert losses(found)["lost"] == recording.sent() - received
    assert "nothing of it is finished" in reported and "as --resume was not given" not in reported
    assert reported.count("hits are lost, by its own count") >= 2, reported
    assert not places(tmp_path)


def test_a_board_that_sends_nothing_after_a_kill(tmp_path, recording):
    """What its end or a mark states as sent is lost; of a board that says nothing the loss is unknown."""
    port = free_port()
    words = [*recording.meaning, "--builders", "1", "--resume"]
    uris = [udp(port, sources="0,1")]
    with Board(recording.files[0], port) as a, Board(recording.files[1], port) as b:
        with LiveRun(tmp_path, uris, *words).listening() as run:
            for board in (a, b):
                board.header()
                board.to(500)
            drained(port)
            until(lambda: len(places(tmp_path)) == 2, "the run has begun", so_far=run.text)
            kill(run)
        unheard(a, 1 << 62)
        with LiveRun(tmp_path, uris, *words).listening() as run:
            for board in (a, b):
                board.header()
            a.end()
            found = ended(run, port)
            report = run.report()
    assert found["ledger/hits_in"].sum() == losses(found)["lost"] == recording.hits(0)
    assert "unknown_losses" not in counts_of(report, 0) and counts_of(report, 1)["unknown_losses"] == 1


def test_boards_with_payload_that_are_not_heard_again(tmp_path):
    """They ended meanwhile. Whether the hits of the output have payload is known from before."""
    with_payload = Recording(tmp_path, "gap:25ns,4", 100, **(STREAMS | {"sources": 1, "payload": 1, "duration": "10ms"}))
    port = free_port()
    words = [*with_payload.meaning, "--builders", "1", "--resume"]
    with LiveRun(tmp_path, [udp(port)], *words).listening() as run, Board(with_payload.files[0], port) as board:
        board.header()
        board.to(500)
        until(lambda: places(tmp_path), "the run has begun", so_far=run.text)
        kill(run)
    with LiveRun(tmp_path, [udp(port)], *words).listening() as run:
        found = ended(run, port)
        report = run.report()
    assert counts_of(report, 0)["unknown_losses"] == 1 and found["ledger/hits_in"].sum() == 0


def test_a_run_that_cannot_begin(tmp_path, recording):
    """What was received until then is lost, which the next one says."""
    port = free_port()
    words = [*recording.meaning, "--builders", "1", "--resume"]
    in_the_way = tmp_path / "run.h5.partial"
    with Board(recording.files[0], port) as board:
        with LiveRun(tmp_path, [udp(port)], *words).listening() as run:
            until(lambda: list(tmp_path.glob("run.live-*.place")), "it listens", so_far=run.text)
            in_the_way.mkdir()
            board.header()
            board.to(500)
            run.wait(2)
        in_the_way.rmdir()
        with LiveRun(tmp_path, [udp(port)], *words).listening() as run:
            board.header()
            board.end()
            found = run.found(3)
    assert losses(found)["lost"] == recording.hits(0, 0, 500) and found["ledger/hits_in"].sum() == recording.hits(0)


@pytest.mark.parametrize("restarts", [False, True])
def test_killed_while_it_waits_for_a_board(tmp_path, recording, restarts):
    """The run has no file yet. What it heard is lost by the board's count, or unknown if that restarts meanwhile; a board
    that has sent nothing has lost nothing."""
    port = free_port()
    words = [*recording.meaning, "--builders", "1", "--epoch-timeout", "0", "--resume"]
    uris = [udp(port, sources="0,1")]
    with Board(recording.files[0], port) as a, Board(recording.files[1], port) as b:
        with LiveRun(tmp_path, uris, *words).listening() as run:
            a.header()
            a.to(500)
            drained(port)
            until(lambda: places(tmp_path), "the board is heard", so_far=run.text)
            kill(run)
        assert not (tmp_path / "run.h5").exists() and len(places(tmp_path)) == 1
        again = Board(recording.files[0], port, session=2) if restarts else contextlib.nullcontext(a)
        with LiveRun(tmp_path, uris, *words).listening() as run, again as a:
            for board in (a, b):
                board.header()
                board.end()
            found = run.found(3)
            report = run.report()
    assert found["ledger/hits_in"].sum() == recording.sent()
    assert losses(found).get("lost", 0) == (0 if restarts else recording.hits(0) - recording.hits(0, 500))
    assert counts_of(report, 0).get("unknown_losses", 0) == (1 if restarts else 0)
    assert "unknown_losses" not in counts_of(report, 1)


def test_stopped_while_it_waits(tmp_path, recording):
    """A run that could not begin leaves no trace."""
    port = free_port()
    words = [*recording.meaning, "--builders", "1", "--resume"]
    with LiveRun(tmp_path, [udp(port)], *words).listening() as run:
        until(lambda: list(tmp_path.glob("run.live-*.place")), "it listens", so_far=run.text)
        run.ranks()
        run.signal(signal.SIGINT)
        run.wait(3)  # nothing received
    assert not list(tmp_path.glob("run.live-*"))


def test_killed_again_and_again(tmp_path, recording):
    port = free_port()
    words = [*recording.meaning, "--segment-size", "1", "--builders", "1"]
    with Board(recording.files[0], port) as board:
        for begin in (0, 1_000, 2_000):
            with LiveRun(tmp_path, [udp(port)], *words, *(["--resume"] if begin else [])).listening() as run:
                known = len(parts(tmp_path))
                board.header()
                board.to(begin + 500)
                run.until_parts(known + 2)
                kill(run)
            unheard(board, begin + 1_000)
        before = finished(tmp_path)
        with LiveRun(tmp_path, [udp(port)], *words, "--resume").listening() as run:
            received = recording.hits(0, 3_000)
            board.header()
            board.end()
            found = run.found(3)
    assert found["ledger/hits_in"].sum() == recording.hits(0)
    assert losses(found)["lost"] == recording.hits(0) - before - received


def test_a_board_that_was_restarted_meanwhile(tmp_path, recording):
    """Its count restarts: how many hits its last session sent at its end is unknown."""
    port = free_port()
    words = [*recording.meaning, "--segment-size", "1", "--builders", "1"]
    with LiveRun(tmp_path, [udp(port)], *words).listening() as run, Board(recording.files[0], port) as board:
        board.header()
        board.to(1_000)
        run.until_parts(3)
        kill(run)
    with LiveRun(tmp_path, [udp(port)], *words, "--resume").listening() as run, \
            Board(recording.files[0], port, session=2) as board:
        board.skip_to(2_000)
        board.header()
        board.end()
        run.wait(3)
        reported, report = last_lines(run), run.report()
    assert "restarted" in reported and "an unknown amount of data" in reported
    assert counts_of(report, 0)["unknown_losses"] == 1
    assert report["totals"]["incomplete_slices"] > 0


def stamped(numbers):
    return [Event(number, [Subevent(1, white_rabbit(10**15 + 2_000_000 * number))]) for number in numbers]


def counted(numbers):
    return [Event(number, [Subevent(1, [number, 7])]) for number in numbers]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGUSR1])
def test_a_server_that_only_stamps(tmp_path, how):
    """Time stamps alone do not show what is missing."""
    sent, again = [], []
    with Server(quiet_after(Layout(), stamped(range(1, 31)), None, sent),
                quiet_after(Layout(), stamped(range(41, 61)), None, again)) as server:
        uris = [f"mbs://{HOST}:{server.port}/transport?time=wr"]
        options = ["--define", "gap:1us,1", "--segment-size", "1", "--builders", "1"]
        with LiveRun(tmp_path, uris, *options) as run:
            until_received(server, sent)
            run.until_parts(10)
            if how == signal.SIGKILL:
                kill(run)
            else:
                run.signal(how)
                run.wait(STOPPED)
        with LiveRun(tmp_path, uris, *options, "--resume") as run:
            until_received(server, again)
            run.ranks()
            run.signal(signal.SIGINT)
            run.wait(3)
            reported = last_lines(run)
    assert "an unknown amount of data" in reported and "unknown_losses 1" in reported


def test_a_server_that_numbers_its_events(tmp_path):
    """Numbers in finished slices are complete; from there to the first new one they are missing."""
    sent, again = [], []
    per_slice = 16 * 100  # numbers of an epoch, epochs of a slice
    with Server(quiet_after(Layout(), counted(range(1, 6_000)), None, sent),
                quiet_after(Layout(), counted(range(9_001, 9_101)), None, again)) as server:
        uris = [f"mbs://{HOST}:{server.port}/transport"]
        options = ["--define", "tag", "--epochs-per-slice", "100", "--segment-size", "1", "--builders", "1"]
        with LiveRun(tmp_path, uris, *options) as run:
            until_received(server, sent)
            run.until_parts(2)
            kill(run)
        ledgers = [read_ledger(path)["slice"] for path in parts(tmp_path) + listed_without_name(tmp_path)]
        end = (max(int(slices.max()) for slices in ledgers if len(slices)) + 1) * per_slice
        with LiveRun(tmp_path, uris, *options, "--resume") as run:
            until_received(server, again)
            run.ranks()
            run.signal(signal.SIGINT)
            run.wait(3)
            reported, report = last_lines(run), run.report()
    assert counts_of(report, 0)["missing_numbers"] == 9_001 - end
    assert f"{9_001 - end} event numbers are missing" in reported


def test_a_server_that_numbers_its_events_and_a_run_that_was_stopped(tmp_path):
    """In the middle of a slice: the numbers from there on are missing."""
    sent, again = [], []
    with Server(quiet_after(Layout(), counted(range(1, 301)), None, sent),
                quiet_after(Layout(), counted(range(5_001, 5_101)), None, again)) as server:
        uris = [f"mbs://{HOST}:{server.port}/transport"]
        options = ["--define", "tag", "--epochs-per-slice", "100", "--builders", "1", "--resume"]
        with LiveRun(tmp_path, uris, *options) as run:
            until_received(server, sent)
            run.ranks()
            run.signal(signal.SIGUSR1)
            run.wait(STOPPED)
        with LiveRun(tmp_path, uris, *options) as run:
            until_received(server, again)
            run.ranks()
            run.signal(signal.SIGINT)
            found, report = run.found(3), run.report()
    assert counts_of(report, 0)["missing_numbers"] == losses(found)["lost"] == 5_000 - 300
    assert found["ledger/hits_in"].sum() == 5_100


def test_the_first_start_with_resume_has_lost_nothing(tmp_path):
    sent = []
    with Server(quiet_after(Layout(), counted(range(101, 301)), None, sent)) as server:
        uris = [f"mbs://{HOST}:{server.port}/transport"]
        with LiveRun(tmp_path, uris, "--define", "tag", "--builders", "1", "--resume") as run:
            until_received(server, sent)
            run.ranks()
            run.signal(signal.SIGINT)
            found = run.found(0)
    assert found["ledger/hits_in"].sum() == 200


def test_a_server_that_numbers_its_events_before_a_part_is_finished(tmp_path):
    """All numbers since the first one of the run are missing."""
    sent, again = [], []
    with Server(quiet_after(Layout(), counted(range(101, 301)), None, sent),
                quiet_after(Layout(), counted(range(901, 1_001)), None, again)) as server:
        uris = [f"mbs://{HOST}:{server.port}/transport"]
        options = ["--define", "tag", "--builders", "1", "--resume"]
        with LiveRun(tmp_path, uris, *options) as run:
            until_received(server, sent)
            until(lambda: places(tmp_path), "the run has begun", so_far=run.text)
            kill(run)
        with LiveRun(tmp_path, uris, *options) as run:
            until_received(server, again)
            run.ranks()
            run.signal(signal.SIGINT)
            found = run.found(3)
            report = run.report()
    assert counts_of(report, 0)["missing_numbers"] == losses(found)["lost"] == 901 - 101
    assert found["ledger/hits_in"].sum() == 1_001 - 101


# Several boards at a port whose URI names none

@pytest.fixture(scope="module")
def three(tmp_path_factory):
    return Recording(tmp_path_factory.mktemp("three"), "gap:25ns,4", 100, **(STREAMS | {"sources": 3, "duration": "5ms"}))


def test_several_boards_at_a_port_that_names_none(tmp_path, three):
    port = free_port()
    with LiveRun(tmp_path, [udp(port)], *three.meaning).listening() as run, contextlib.ExitStack() as stack:
        boards = [stack.enter_context(Board(file, port)) for file in three.files]
        for board in boards[1:] + boards[:1]:
            board.header()
            board.to(300)
        for board in (boards[0], boards[2]):
            board.end()
        drained(port)
        boards[1].end()  # and the run with it
        found = run.found(3)
        reported, report = last_lines(run), run.report()
    ids = [file.source for file in three.files]
    others = three.hits(0) + three.hits(2)
    assert found["ledger/hits_in"].sum() == three.hits(1)
    counts = counts_of(report, 0)
    assert counts["other_boards"] == 2 and counts["hits_of_other_boards"] == others
    assert f"?sources={','.join(map(str, ids))}" in reported and f"{others} hits" in reported


def test_boards_that_are_named_are_all_taken(tmp_path, three):
    """Other boards at the port were not requested."""
    port = free_port()
    ids = [file.source for file in three.files]
    with LiveRun(tmp_path, [udp(port, sources=f"{ids[0]},{ids[1]}")], *three.meaning).listening() as run, \
            contextlib.ExitStack() as stack:
        for board in [stack.enter_context(Board(file, port)) for file in reversed(three.files)]:
            board.header()
            board.end()
        found = run.found(0)
    assert found["ledger/hits_in"].sum() == three.hits(0) + three.hits(1)


# A board whose clock is far from the host's

def introduced(board, started_ns):
    return board.framed(HEADER, struct.pack("<q", started_ns) + board.file.data[:board.file.buffers[0].offset])


@pytest.mark.parametrize("off_s", [-3_600, 0, 3_600, 86_400 * 365])
def test_a_clock_that_is_far_from_the_hosts(tmp_path, three, off_s):
    """Its latencies are unknown rather than wild; a warning and an alarm report the difference."""
    port = free_port()
    with LiveRun(tmp_path, [udp(port)], *three.meaning, "--alarm", "clock_difference>60s", "--alarm",
                 "clock_difference:0>60s").listening() as run, Board(three.files[0], port) as board:
        board.send(introduced(board, time.time_ns() + off_s * 1_000_000_000))
        board.end()
        found = run.found(0)
        reported, last, report = run.text(), last_lines(run), run.report()
    far = abs(off_s) > 60
    assert found["ledger/hits_in"].sum() == three.hits(0)
    assert ("latency" not in report) == far
    assert ("its clock is" in last) == far
    assert sum("warning" in line and "its clock is" in line for line in reported.splitlines()) == (2 if far else 0)
    assert ("ahead of" in reported) == (off_s > 0)
    alarms = {alarm["condition"]: alarm for alarm in report["alarms"]}
    assert len(alarms) == (2 if far else 0)
    for alarm in alarms.values():
        assert alarm["value"] == pytest.approx(abs(off_s), abs=30) and alarm["unit"] == "s"
