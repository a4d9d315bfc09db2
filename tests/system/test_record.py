"""record: live sources to numbered files, which hold what was sent, whatever ends the recorder or fills its disk."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
from pathlib import Path

import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from interrupted import Started, until
from live import HOST, Board, LiveRun, Recording, counts_of, free_port, sockets, udp
from lmd_reference import Event, Subevent, white_rabbit
from mbs import Layout, Server, sends
from program import Run, eventloom, only_line
from results import assert_same, read_merged
from test_event_files import small_disk
from test_follow import watching
from test_live_ends import quiet_after, until_received
from test_mbs import lmd_file, made
from trb import Board as TrbBoard
from trb import triggers

STREAMS = {"sources": 2, "rate": 20_000, "timing": "poisson", "hits": 8, "width": "50ns", "noise": 200_000,
           "duration": "40ms", "seed": 5, "epochs-per-buffer": 10}
BUFFER_HEADER_BYTES = 64


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording(tmp_path_factory.mktemp("recording"), "gap:25ns,4", 100, **STREAMS)


class Recorder(Started):
    """`eventloom record` to the folder `out` of `folder`."""

    def __init__(self, folder, uris, *options, out="out"):
        self.uris, self.out = list(uris), folder / out
        super().__init__(folder, "record", *self.uris, "--output", out, "--report-json", "report.json", *options)

    def listening(self):
        ports = [int(uri.partition("?")[0].rpartition(":")[2]) for uri in self.uris]

        def ready():
            assert self.process.poll() is None, f"ended before it listened\n{self.text()}"
            return all(sockets("udp", port) for port in ports)
        until(ready, f"ports {ports} bound", so_far=self.text)
        return self

    def report(self):
        return json.loads((self.folder / "report.json").read_text())

    def until_recorded(self, expected, source=0):
        """Waits until the files, read while they grow, hold that many epoch buffers with hits."""
        until(lambda: len(growing_buffers(self.out, source)) >= expected, f"{expected} epoch buffers", so_far=self.text)

    def kill(self):
        self.process.kill()
        self.process.wait(30)


def data_files(out, source=0):
    return sorted(out.glob(f"source_{source:03}.*.epochs"))


def growing_buffers(out, source=0):
    """The words of the complete epoch buffers in the files, found by scanning alone."""
    found = []
    for path in data_files(out, source):
        data = path.read_bytes()
        at = data.find(b"EPBF")
        while at >= 0 and data[at:at + 4] == b"EPBF":
            n_words = int.from_bytes(data[at + 28:at + 32], "little")
            end = at + BUFFER_HEADER_BYTES + (4 * n_words + 7) // 8 * 8
            if end > len(data):
                break
            if n_words:
                found.append(data[at + BUFFER_HEADER_BYTES:at + BUFFER_HEADER_BYTES + 4 * n_words])
            at = end
    return found


def sent_buffers(file):
    return [file.data[b.offset + BUFFER_HEADER_BYTES:b.offset + BUFFER_HEADER_BYTES + 4 * b.n_words] for b in file.buffers]


def recorded_hits(path):
    """The hits without those of the epoch buffers that stand for losses."""
    file = read_epochs_file(path)
    return hits_of_file(file, [number for number, buffer in enumerate(file.buffers) if not buffer.n_words])


def lost_hits(out, source=0):
    """Hits of the epoch buffers without words."""
    return sum(b.n_hits for path in data_files(out, source) for b in read_epochs_file(path).buffers if not b.n_words)


def names(out):
    return sorted(path.name for path in out.iterdir())


def boards(stack, recording, ports, **how):
    return [stack.enter_context(Board(file, port, **how)) for file, port in zip(recording.files, ports)]


@contextlib.contextmanager
def recorded_to(folder, board, port, epoch):
    """A recorder that has written everything that the board has up to this epoch."""
    with Recorder(folder, [udp(port)]).listening() as recorder:
        board.header()
        board.to(epoch)
        recorder.until_recorded(board.next)
        yield recorder


def test_what_was_sent_is_recorded(tmp_path, recording):
    """Two boards, and files of one size each; a run of the files builds the same as one of the original streams."""
    ports = [free_port(), free_port()]
    with contextlib.ExitStack() as stack:
        recorder = stack.enter_context(Recorder(tmp_path, map(udp, ports))).listening()
        for board in boards(stack, recording, ports):
            board.header()
            board.end()
        reported = recorder.wait(0)
    assert names(recorder.out) == [f"source_00{n}.{end}" for n in (0, 1) for end in ("000000.epochs", "end", "state")]
    for source, file in enumerate(recording.files):
        path, = data_files(recorder.out, source)
        assert growing_buffers(recorder.out, source) == sent_buffers(file)
        assert f"source_00{source}: {recording.hits(source)} hits in {len(file.buffers)} epoch buffers in 1 files" in reported
        assert hits_of_file(read_epochs_file(path)).time.tolist() == hits_of_file(file).time.tolist()
    run = Run(tmp_path / "run", [f"file:{path}" for n in (0, 1) for path in data_files(recorder.out, n)], *recording.meaning)
    assert_same(read_merged(run.merged), read_merged(recording.folder / "replay" / "merged.h5")
                if recording.replay else None)


def test_files_of_a_size(tmp_path, recording):
    """No file exceeds it; growing files can be read by inspect and run; acknowledged ones are removed, others are
    kept."""
    port = free_port()
    with Recorder(tmp_path, [udp(port)], "--size", "20kB").listening() as recorder, \
            Board(recording.files[0], port) as board:
        board.header()
        board.to(2_000)
        recorder.until_recorded(board.next)
        complete, newest = data_files(recorder.out)[:-1], data_files(recorder.out)[-1]
        hits = recording.hits(0, 0, 2_000) - sum(b.n_hits for path in complete for b in read_epochs_file(path).buffers)
        assert json.loads(eventloom("inspect", newest, "--json", code=None).stdout)["hits"] == hits
        assert Run(tmp_path / "growing", [f"file:{newest}"], *recording.meaning).report()["totals"]["hits_in"] == hits
        assert len(data_files(recorder.out)) > 3 and not (recorder.out / "source_000.end").exists()
        before = [read_epochs_file(path) for path in data_files(recorder.out)[:3]]
        foreign = recorder.out / "source_000.notes.epochs"
        foreign.write_text("mine")
        (recorder.out / "source_000.done.new").write_text("3\n")
        (recorder.out / "source_000.done.new").rename(recorder.out / "source_000.done")
        until(lambda: data_files(recorder.out)[0].name == "source_000.000003.epochs", "acknowledged files gone")
        board.end()
        recorder.wait(0)
    assert foreign.read_text() == "mine"
    foreign.unlink()
    files = [*before, *map(read_epochs_file, data_files(recorder.out))]
    words = [file.words(b) for file in files for b in file.buffers]
    assert words == [recording.files[0].words(b) for b in recording.files[0].buffers]
    assert all(len(file.data) <= 20_000 for file in files)
    gone = recorder.report()["removed_acknowledged"]
    assert gone == {"files": 3, "bytes": sum(len(f.data) for f in before), "hits": sum(b.n_hits for f in before for b in f.buffers)}


def test_a_limit_of_all_files(tmp_path, recording):
    """The oldest files are removed, counted, and affect the exit code."""
    port = free_port()
    with Recorder(tmp_path, [udp(port)], "--size", "20kB", "--keep", "60kB").listening() as recorder, \
            Board(recording.files[0], port) as board:
        board.header()
        board.end()
        reported = recorder.wait(3)
    left = [hits for path in data_files(recorder.out) for hits in [sum(b.n_hits for b in read_epochs_file(path).buffers)]]
    lost = recorder.report()["removed_for_room"]
    assert sum(path.stat().st_size for path in data_files(recorder.out)) <= 60_000
    assert lost["files"] > 0 and lost["hits"] + sum(left) == recording.hits(0)
    assert "warning: --keep: removed 'out/source_000.000000.epochs'" in reported
    numbers = [int(path.name.split(".")[1]) for path in data_files(recorder.out)]
    assert numbers == list(range(lost["files"], lost["files"] + len(left)))


@pytest.mark.parametrize("torn", [0, 40, 200])
def test_kill_and_restart(tmp_path, recording, torn):
    """Data that the board sent meanwhile are lost by its own count, to the hit; a torn end is cut off, which a run that
    has read some of it does not notice."""
    port, file = free_port(), recording.files[0]
    files = f"file:{tmp_path}/out/source_000.*.epochs?follow"
    with contextlib.ExitStack() as stack, Board(file, port) as board:
        with recorded_to(tmp_path, board, port, 1_000) as recorder:
            first = board.next
            run = stack.enter_context(LiveRun(tmp_path / "run", [files], *recording.meaning, "--segment-size", "1"))
            run.until_parts(1, 20)
            recorder.kill()
        path = recorder.out / "source_000.000000.epochs"
        following = file.buffers[first]
        with path.open("ab", buffering=0) as out:  # as if killed in the middle of a write
            if torn:
                watching(run)(lambda: out.write(file.data[following.offset:following.offset + torn]))
        board.skip_to(2_000)
        with Recorder(tmp_path, [udp(port)]).listening() as recorder:
            board.header()
            second = board.next
            board.end()
            reported = recorder.wait(3)
        followed = run.wait(3)
    missed = sum(b.n_hits for b in file.buffers[first:second])
    totals = run.report()["totals"]
    assert (totals["hits_in"], totals["hits_dropped"]["lost"]) == (recording.hits(0), missed), followed
    assert "became shorter" not in followed
    assert f"{missed} hits are lost, by its own count" in reported and "was not finished" in reported
    assert names(recorder.out) == ["source_000.000000.epochs", "source_000.000001.epochs", "source_000.end", "source_000.state"]
    assert growing_buffers(recorder.out) == sent_buffers(file)[:first] + sent_buffers(file)[second:]
    assert len(read_epochs_file(path).buffers) == first and lost_hits(recorder.out) == missed


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_kills_at_any_moment(tmp_path, recording, seed):
    """While files begin and end: no hit is duplicated, and missing ones are lost by the files' own account."""
    port, file, dice = free_port(), recording.files[0], random.Random(seed)
    with Board(file, port) as board:
        for epoch in sorted(dice.sample(range(200, 3_800, 10), 6)):
            with Recorder(tmp_path, [udp(port)], "--size", "6kB").listening() as recorder:
                board.header()
                before, first = len(growing_buffers(recorder.out)), board.next
                while board.next < len(file.buffers) and file.buffers[board.next].first_epoch < epoch:
                    board.to(file.buffers[board.next].end_epoch, silently=dice.random() < 0.5)
                if board.next - first > 2:
                    recorder.until_recorded(before + dice.randrange(1, board.next - first - 1))
                recorder.kill()
            board.skip_to(epoch + dice.randrange(0, 100))
        with Recorder(tmp_path, [udp(port)], "--size", "6kB").listening() as recorder:
            board.header()
            board.end()
            recorder.process.wait(60)
    found, sent = growing_buffers(recorder.out), sent_buffers(file)
    places = [sent.index(words) for words in found]
    assert places == sorted(set(places)) and found[-1] == sent[-1]
    recorded = sum(file.buffers[place].n_hits for place in places)
    assert recorded + lost_hits(recorder.out) == recording.hits(0)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_restart_at_a_server(tmp_path, how):
    """An MBS server that continues where it was: with one epoch per number, nothing is lost in normal operation, and
    losses by a kill are counted by numbers."""
    layout, sent = Layout(), []
    with Server(quiet_after(layout, made(40), None, sent), sends(layout, layout.buffers(made(20, first=41)))) as server:
        words = [[f"mbs://{HOST}:{server.port}/transport"], "--epoch", "1ns"]
        with Recorder(tmp_path, *words) as recorder:
            until_received(server, sent)
            recorder.until_recorded(1)
            recorder.send(how, 0)
            recorder.process.wait(30)
        with Recorder(tmp_path, *words) as recorder:
            recorder.process.wait(30)
    times = [time for path in data_files(recorder.out) for time in recorded_hits(path).time.tolist()]
    missing = sorted(set(range(1, 61)) - set(times))
    assert times == sorted(set(times)) and times[-20:] == list(range(41, 61))
    assert recorder.process.returncode == (3 if missing else 0), recorder.text()
    assert recorder.report()["per_source"][0]["counts"].get("missing_numbers", 0) == len(missing)
    assert lost_hits(recorder.out) == len(missing)
    assert how == signal.SIGKILL or not missing


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_recorder_that_has_heard_nothing(tmp_path, recording, how):
    """What a board has sent since it was killed is unknown. One that ended has no recording to be continued."""
    port = free_port()
    with Recorder(tmp_path, [udp(port)]).listening() as recorder:
        until((recorder.out / "source_000.state").exists, "its state", so_far=recorder.text)
        recorder.send(how, 0)
        recorder.process.wait(30)
    with Recorder(tmp_path, [udp(port)]).listening() as recorder, Board(recording.files[0], port) as board:
        board.skip_to(1_000)
        board.header()
        board.end()
        recorder.wait(3 if how == signal.SIGKILL else 0)
    unknown = recorder.report()["per_source"][0]["counts"].get("unknown_losses", 0)
    assert unknown == (how == signal.SIGKILL)


def test_a_restarted_recorder_that_hears_nothing_more(tmp_path, recording):
    """Runs that follow or replay its files know, too, that something may be lost."""
    port = free_port()
    with Board(recording.files[0], port) as board:
        with recorded_to(tmp_path, board, port, 1_000) as recorder:
            recorder.kill()
    with Recorder(tmp_path, [udp(port)]).listening() as recorder:
        with LiveRun(tmp_path / "run", [f"file:{recorder.out}/source_000.*.epochs?follow"], *recording.meaning) as run:
            recorder.send(signal.SIGINT, 0)
            reported = recorder.wait(3)
            run.found(3)
    assert "it has sent nothing since" in reported and counts_of(run.report(), 0)["unknown_losses"] == 1
    replay = Run(tmp_path / "replay", [f"file:{recorder.out}/source_000.*.epochs"], *recording.meaning, code=3)
    assert replay.report()["totals"]["hits_in"] == run.report()["totals"]["hits_in"] == recording.hits(0, 0, 1_000)


def test_restart_without_a_loss(tmp_path, recording):
    """A board that waits meanwhile loses nothing; the end mark is removed and rewritten; a file without data is
    replaced."""
    port, file = free_port(), recording.files[0]
    with Board(file, port) as board:
        with recorded_to(tmp_path, board, port, 1_000) as recorder:
            recorder.send(signal.SIGTERM, 0)
            recorder.wait(0)
        assert (recorder.out / "source_000.end").exists()
        (recorder.out / "source_000.000001.epochs").touch()
        with Recorder(tmp_path, [udp(port)]).listening() as recorder:
            until(lambda: not (recorder.out / "source_000.end").exists(), "no end mark", so_far=recorder.text)
            board.header()
            board.end()
            recorder.wait(0)
    assert growing_buffers(recorder.out) == sent_buffers(file) and lost_hits(recorder.out) == 0


def test_a_damaged_header(tmp_path, recording):
    """An unfinished file with a damaged header has data: it is kept."""
    port, file = free_port(), recording.files[0]
    with Board(file, port) as board:
        with recorded_to(tmp_path, board, port, 1_000) as recorder:
            recorder.kill()
        path = recorder.out / "source_000.000000.epochs"
        data = bytearray(path.read_bytes())
        data[20] ^= 1
        path.write_bytes(data)
        with Recorder(tmp_path, [udp(port)]).listening() as recorder:
            board.header()
            board.end()
            reported = recorder.wait(0)
    assert path.read_bytes() == data and "it stays as it is" in reported
    assert growing_buffers(recorder.out) == sent_buffers(file)


def test_an_acknowledgement_of_what_is_not_there_yet(tmp_path, recording):
    """As if left by an earlier recording whose files were removed by hand."""
    port = free_port()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "source_000.done").write_text("57\n")
    with Recorder(tmp_path, [udp(port)], "--size", "20kB").listening() as recorder, \
            Board(recording.files[0], port) as board:
        board.header()
        board.end()
        reported = recorder.wait(0)
    assert growing_buffers(recorder.out) == sent_buffers(recording.files[0])
    assert "source_000.done" in reported and "ignored" in reported


def test_a_clock_that_is_set_back(tmp_path, recording):
    """A board restarts and sends earlier times than those recorded: its hits are counted and named."""
    port, file = free_port(), recording.files[0]
    for session, code in ((11, 0), (12, 3)):
        with Board(file, port, session=session) as board, Recorder(tmp_path, [udp(port)]).listening() as recorder:
            board.header()
            board.end()
            recorder.wait(code)
            assert (f"{recording.hits(0)} hits are not recorded" in recorder.text()) == (code == 3)
    assert growing_buffers(recorder.out) == sent_buffers(file)
    assert recorder.report()["per_source"][0]["counts"]["hits_before_the_run"] == recording.hits(0)


def test_refusals(tmp_path, recording):
    port = free_port()
    with Recorder(tmp_path, [udp(port)]).listening() as recorder:
        only_line(eventloom("record", udp(free_port()), "--output", recorder.out, code=2), "out", "another run", "--output")
        recorder.send(signal.SIGINT, 0)
        recorder.wait(3)
        assert "nothing received" in recorder.text()
    only_line(eventloom("record", udp(free_port()), "--output", recorder.out, code=2), udp(port), "--output")
    only_line(eventloom("record", recording.paths[0], "--output", tmp_path / "x", code=2), "not live", "convert")
    only_line(eventloom("record", udp(port), code=2), "--output")
    only_line(eventloom("record", udp(port), "--output", "x", "--keep", "1GB", code=2, cwd=tmp_path), "--keep", "--size")
    for name in ("source_000.000000.epochs", "source_000.state", "source_000.done"):
        only_line(eventloom("record", udp(port), "--output", "x", "--report-json", f"x/{name}", code=2, cwd=tmp_path),
                  "--report-json", "--output")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "source_000.end").write_text("mine")
    only_line(eventloom("record", udp(port), "--output", foreign, code=2), "source_000.end")
    assert names(foreign) == ["source_000.end"]


def test_a_foreign_file_of_the_same_name(tmp_path, recording):
    """The file is kept, and its number is not used."""
    port = free_port()
    out = tmp_path / "out"
    out.mkdir()
    (out / "source_000.000004.epochs").write_text("mine")
    with Recorder(tmp_path, [udp(port)]).listening() as recorder, Board(recording.files[0], port) as board:
        board.header()
        board.end()
        recorder.wait(0)
    assert (out / "source_000.000004.epochs").read_text() == "mine"
    assert len(read_epochs_file(out / "source_000.000005.epochs").buffers) == len(recording.files[0].buffers)


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: only root mounts a small disk")
@pytest.mark.parametrize("space_comes", [True, False])
def test_a_full_disk(tmp_path, recording, space_comes):
    """The recorder waits, with the data received, until there is room; otherwise it counts the data dropped."""
    port, file = free_port(), recording.files[0]
    with small_disk(tmp_path / "disk", "64k") as disk, Board(file, port) as board:
        with Recorder(tmp_path, [udp(port)], out="disk/out").listening() as recorder:
            board.header()
            board.end()
            recorder.until_reported("No space left")
            if space_comes:
                subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True, timeout=20)
            else:
                recorder.send(signal.SIGTERM, 0)
            reported = recorder.wait(0 if space_comes else 3)
        found, report = growing_buffers(recorder.out), recorder.report()
        done = eventloom("run", f"file:{recorder.out}/source_000.*.epochs?follow", "--define", "gap:25ns,4", "--output", "run.h5",
                         "--report-json", "run.json", code=0 if space_comes else 3, cwd=tmp_path)
    assert ("its recorder ended while the disk was full" in done.stderr) == (not space_comes)
    totals = json.loads((tmp_path / "run.json").read_text())["totals"]
    sent = sent_buffers(file)
    assert found == (sent if space_comes else sent[:len(found)])
    left = sum(b.n_hits for b in file.buffers[len(found):])
    assert totals["hits_in"] == recording.hits(0) - left
    assert report["per_source"][0]["hits_unwritten"] == left
    assert ("there is room again after" if space_comes else f"{left} hits could not be written") in reported


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: only root mounts a small disk")
def test_killed_and_restarted_while_the_disk_is_full(tmp_path, recording):
    """It waits for room, like one that meets the full disk itself; what was sent is recorded, or lost by the board's count."""
    port, file = free_port(), recording.files[0]
    with small_disk(tmp_path / "disk", "64k") as disk, Board(file, port) as board:
        with Recorder(tmp_path, [udp(port)], out="disk/out").listening() as recorder:
            board.header()
            board.to(file.buffers[-1].end_epoch // 2)
            recorder.until_reported("No space left")
            recorder.kill()
        with Recorder(tmp_path, [udp(port)], out="disk/out").listening() as recorder:
            board.header()
            board.end()
            recorder.until_reported("data wait until there is room")
            subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True, timeout=20)
            recorder.wait(3)
        hits = {words: buffer.n_hits for words, buffer in zip(sent_buffers(file), file.buffers)}
        recorded = sum(hits[words] for words in growing_buffers(recorder.out))
        assert recorded + recorder.report()["per_source"][0]["counts"]["hits_dropped_lost"] == recording.hits(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: only root mounts a small disk")
def test_a_run_that_follows_waits_for_room_on_the_disk(tmp_path, recording):
    """What the recorder holds back meanwhile is not late, however little the run waits for silent sources."""
    port, file, renewals = free_port(), recording.files[0], set()
    with small_disk(tmp_path / "disk", "64k") as disk, Board(file, port) as board:
        with Recorder(tmp_path, [udp(port)], out="disk/out").listening() as recorder:
            mark = recorder.out / "source_000.full"
            board.header()
            board.to(20)
            recorder.until_recorded(1)
            with Started(tmp_path, "run", f"file:{recorder.out}/source_000.*.epochs?follow", "--define", "gap:25ns,4",
                         "--flush-after", "10ms", "--output", "run.h5", "--report-json", "run.json") as run:
                board.end()
                recorder.until_reported("No space left")

                def renewed():
                    with contextlib.suppress(FileNotFoundError):
                        renewals.add(mark.stat().st_mtime_ns)
                    return len(renewals) > 5  # longer than any silence that ends a slice
                until(renewed, "a mark that is renewed", so_far=recorder.text)
                subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True, timeout=20)
                recorder.wait(0)
                run.wait(0)
        assert not mark.exists()
    totals = json.loads((tmp_path / "run.json").read_text())["totals"]
    assert totals["hits_in"] == recording.hits(0)


def test_nonsense(tmp_path, recording):
    """Datagrams of unknown boards and damaged ones change only counters."""
    port, file = free_port(), recording.files[0]
    with Recorder(tmp_path, [udp(port)]).listening() as recorder, Board(file, port) as board, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        board.header()
        board.to(1_000)
        for nonsense in (b"", b"\0", os.urandom(1400), board.data(board.next)[0][:-1]):
            other.sendto(nonsense, (HOST, port))
        board.end()
        recorder.wait(3)
    assert growing_buffers(recorder.out) == sent_buffers(file)
    assert recorder.report()["per_source"][0]["counts"]["malformed"] >= 3


@pytest.mark.parametrize("protocol", ["transport", "stream"])
def test_an_mbs_server(tmp_path, protocol):
    """The files hold the same hits as the events in a file."""
    layout, events = Layout(), made(300)
    with Server(sends(layout, layout.buffers(events), protocol)) as server, \
            Recorder(tmp_path, [f"mbs://{HOST}:{server.port}/{protocol}"]) as recorder:
        recorder.wait(0)
    eventloom("convert", f"lmd:{lmd_file(tmp_path, events)}", "--output", tmp_path / "expected.epochs")
    path, = data_files(recorder.out)
    assert same_hits(path, tmp_path / "expected.epochs")


def same_hits(a, b):
    a, b = (hits_of_file(read_epochs_file(path)) for path in (a, b))
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("time", "channel", "payload"))


def test_trb_boards(tmp_path):
    """Event numbers serve as times; a missing number is a lost hit in the file."""
    ports = [free_port(), free_port()]
    everything = [triggers(range(100, 400), ident) for ident in (1, 2)]
    with Recorder(tmp_path, [f"trb://{HOST}:{port}" for port in ports]).listening() as recorder:
        for ident, port, sent in zip((1, 2), ports, everything):
            board = TrbBoard(port, 0x8000 + ident)
            board.send(*(t for t in sent if (ident, t.number) != (2, 250)))
            board.close()
        for source in (0, 1):
            recorder.until_recorded(1, source)
        until(lambda: not any(one.to_read for port in ports for one in sockets("udp", port)), "all read")
        recorder.send(signal.SIGINT, 0)
        recorder.wait(3)
    for source in (0, 1):
        times = np.concatenate([recorded_hits(path).time for path in data_files(recorder.out, source)])
        assert times.tolist() == [n for n in range(100, 400) if (source, n) != (1, 250)]
        assert lost_hits(recorder.out, source) == source


@contextlib.contextmanager
def restarted_board(recording):
    """A board whose count restarts with another session."""
    port = free_port()

    def send(session, begin, end):
        with Board(recording.files[0], port, session=session) as board:
            board.skip_to(begin)
            board.header()
            board.to(end)
    yield udp(port), "gap:25ns,4", [lambda: send(1, 0, 1_000), lambda: send(2, 2_000, 3_000)]


@contextlib.contextmanager
def stamping_server(_):
    """An MBS server whose stamps do not show what is missing."""
    sent = []
    phases = [quiet_after(Layout(), [Event(n, [Subevent(1, white_rabbit(10**15 + 2_000_000 * n))]) for n in numbers], None,
                          sent) for numbers in (range(1, 31), range(41, 61))]
    with Server(*phases) as server:
        yield f"mbs://{HOST}:{server.port}/transport?time=wr", "gap:1us,1", [lambda: None, lambda: None]


@contextlib.contextmanager
def counting_again(_):
    """A TRB board, whose numbers may have started again."""
    port = free_port()

    def send(numbers):
        board = TrbBoard(port, 0x8001)
        board.send(*triggers(numbers, 1))
        board.close()
    yield f"trb://{HOST}:{port}", "tag", [lambda: send(range(100, 200)), lambda: send(range(300, 400))]


@pytest.mark.parametrize("sender", [restarted_board, stamping_server, counting_again])
def test_losses_of_unknown_size(tmp_path, recording, sender):
    """Where the recorder was interrupted and nobody knows what it missed, runs that follow or replay its files say so."""
    files = f"{tmp_path}/out/source_000.*.epochs"
    with sender(recording) as (uri, define, phases), contextlib.ExitStack() as stack:
        words = ["--define", define, "--epochs-per-slice", "2" if define == "tag" else "100", "--segment-size", "1"]
        for number, phase in enumerate(phases):
            recorder = stack.enter_context(Recorder(tmp_path, [uri]))
            if not uri.startswith("mbs:"):
                recorder.listening()
            before = len(growing_buffers(recorder.out))
            phase()
            recorder.until_recorded(before + 1)
            if number == 0:
                followed = stack.enter_context(LiveRun(tmp_path / "followed", [f"file:{files}?follow"], *words))
                followed.until_parts(1, 20)
                recorder.kill()
        recorder.send(signal.SIGINT, 0)
        assert "an unknown amount of data" in recorder.wait(3)
        followed.wait(3)
    with LiveRun(tmp_path / "replayed", [f"file:{files}"], *words) as replayed:
        replayed.wait(3)
    for run in (followed, replayed):
        report = run.report()
        assert sum(source["counts"].get("unknown_losses", 0) for source in report["per_source"]) == 1, run.text()
        assert report["totals"]["incomplete_slices"] > 0


def test_no_mpi(tmp_path):
    """The recorder does not need MPI: neither its libraries' threads nor their files in the session's folder."""
    port = free_port()
    with Recorder(tmp_path, [udp(port)]).listening() as recorder:
        assert not [path for path in Path(f"/proc/{recorder.process.pid}/fd").iterdir() if "ompi" in os.path.realpath(path)]
        recorder.send(signal.SIGTERM, 0)
        recorder.process.wait(30)
