"""Boards whose clock jumps: excluded, named and counted, and accepted again; no run becomes endless or grows because of
one."""

import re
import signal

import pytest

from epochs_file import hits_of_file
from interrupted import STOPPED, until
from live import Board, LiveRun, Recording, assert_slices_as_replayed, drained, free_port, losses_of, masked, merged, rows, udp
from misbehaviour import BadBoard, BadServer

FAR = 10**12  # epochs
STREAMS = {"sources": 2, "rate": 20_000, "timing": "poisson", "hits": 8, "width": "50ns", "noise": 200_000,
           "duration": "40ms", "seed": 5, "epochs-per-buffer": 10}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording(tmp_path_factory.mktemp("recording"), "gap:25ns,4", 100, **STREAMS)


def jumping(recording, port):
    return BadBoard(recording.files[1], port, seed=0, calm=1000)


def together(steady, other, begin, end, shift=0):
    other.shift = shift
    for epoch in range(begin, end, 100):
        steady.to(epoch + 100)
        other.proceed(epoch + 100)


@pytest.mark.parametrize("np", [None, 2])
@pytest.mark.parametrize("timeout", ["0s", "1s"])
def test_a_jump_and_back(tmp_path, recording, np, timeout):
    """The run continues without the board that has jumped, and with it when it returns."""
    ports = [free_port(), free_port()]
    with LiveRun(tmp_path, map(udp, ports), *recording.meaning, "--segment-size", "1", "--builders", "1", "--epoch-timeout",
                 timeout, np=np).listening() as run, \
            Board(recording.files[0], ports[0]) as steady, jumping(recording, ports[1]) as other:
        steady.header()
        together(steady, other, 0, 1_000)
        run.until_parts(8)
        together(steady, other, 1_000, 2_000, FAR)
        run.until_reported("source 1 (", "set aside")
        run.until_parts(18)
        drained(ports[1])
        together(steady, other, 2_000, 3_000)
        run.until_reported("source 1 (", "is back at")
        together(steady, other, 3_000, 4_000)
        for port in ports:
            drained(port)
        run.signal(signal.SIGINT)
        found, report, text = run.found(3, timeout=20), run.report(), run.text()
    away = recording.hits(1, 1_000, 2_000)
    # The hits lie in slices that were closed while it was away.
    late = losses_of(report, 1).pop("late", 0)
    assert losses_of(report, 1).items() - {("late", late)} == {("out_of_step", away)} and losses_of(report, 0) == {}
    assert late <= recording.hits(1, 2_000, 2_100)
    assert found["ledger/hits_in"].sum() == recording.sent()
    assert set(range(10, 20)) <= set(masked(found)) <= set(range(9, 31)) and set(masked(found).values()) == {2}
    assert_slices_as_replayed(recording, found)
    assert re.findall(r"its clock jumps from epoch (\d+)", text) == ["999"]
    assert text.index("its clock jumps") < text.index("set aside") and "too far" not in text, "one line, and first"


@pytest.mark.parametrize("np", [None, 2])
def test_a_server_jumps_and_is_back(tmp_path, recording, np):
    """The stamps of an MBS server, likewise."""
    port = free_port()
    with BadServer(recording.files[1], hits_of_file(recording.files[1]), seed=0, calm=1000) as other, \
            LiveRun(tmp_path, [udp(port), f"mbs://127.0.0.1:{other.port}/transport?time=wr"], *recording.meaning, "--segment-size", "1",
                    "--builders", "1", "--epoch-timeout", "1s", np=np).listening() as run, \
            Board(recording.files[0], port) as steady:
        steady.header()
        until(lambda: other.proceed(0) or other.client, "the run connects", so_far=run.text)
        together(steady, other, 0, 1_000)
        run.until_parts(8)
        together(steady, other, 1_000, 2_000, FAR)
        run.until_reported("source 1 (", "set aside")
        together(steady, other, 2_000, 3_000)
        run.until_reported("source 1 (", "is back at")
        together(steady, other, 3_000, 4_000)
        until(lambda: other.flush() or not other.waiting, "all is sent", so_far=run.text)
        drained(port)
        run.signal(signal.SIGINT)
        found, report = run.found(3, timeout=20), run.report()
    lost = losses_of(report, 1)
    assert lost.keys() <= {"out_of_step", "late"} and lost["out_of_step"] == recording.hits(1, 1_000, 2_000)
    assert losses_of(report, 0) == {}
    assert found["ledger/hits_in"].sum() == recording.sent()
    assert set(range(31, 40)) <= rows(found).keys() - masked(found), "it is there again"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGUSR1, "--duration"])
def test_a_board_that_stays_away(tmp_path, recording, how):
    """The run ends on request, and nothing is written of the stretch in between."""
    ports = [free_port(), free_port()]
    more = ["--duration", "10s"] if how == "--duration" else []
    with LiveRun(tmp_path, map(udp, ports), *recording.meaning, "--segment-size", "1", "--builders", "1", "--epoch-timeout", "1s",
                 *more).listening() as run, \
            Board(recording.files[0], ports[0]) as steady, jumping(recording, ports[1]) as other:
        steady.header()
        together(steady, other, 0, 1_000)
        together(steady, other, 1_000, 3_000, FAR)
        run.until_reported("source 1 (", "set aside")
        if not more:
            run.signal(how)
        # Ends within --epoch-timeout and 10 s, in addition to the rest of the duration.
        run.wait(STOPPED if how == signal.SIGUSR1 else 3, timeout=11 + (10 if more else 0))
        if how != signal.SIGUSR1:
            assert max(rows(merged(tmp_path))) < 40
    assert sum(path.stat().st_size for path in tmp_path.rglob("*")) < 5e6


def test_a_clock_that_is_wrong_from_the_beginning(tmp_path, recording):
    """The run begins at the other board's place."""
    ports = [free_port(), free_port()]
    with LiveRun(tmp_path, map(udp, ports), *recording.meaning, "--builders", "1", "--epoch-timeout", "5s",
                 "--verbose").listening() as run, \
            Board(recording.files[0], ports[0]) as steady, jumping(recording, ports[1]) as other:
        steady.header()
        together(steady, other, 0, 1_000, FAR)
        run.until_reported("source 1 (", "set aside")
        for port in ports:
            drained(port)
        together(steady, other, 1_000, 2_000)
        run.until_reported("source 1 (", "is back at")
        together(steady, other, 2_000, 4_000)
        for port in ports:
            drained(port)
        run.signal(signal.SIGINT)
        found, report, text = run.found(3, timeout=20), run.report(), run.text()
    assert max(rows(found)) < 41
    assert len(re.findall(r"its clock jumps from epoch \d+ to epoch 1000 ", text)) == 1
    assert text.count("its epochs are too far") == 6
    assert losses_of(report, 1)["out_of_step"] >= recording.hits(1, 0, 1_000) > 0
    assert set(range(31, 40)) <= rows(found).keys() - masked(found)
    assert_slices_as_replayed(recording, found)
