"""Damaged .epochs files: never a crash, a hang or an unflagged wrong event; every loss is counted and located."""

import json
import random
import re
import struct

import pytest

from epochs_file import BUFFER_HEADER, crc32c, hits_of_file, read_epochs_file
from program import Run, eventloom, generate
from reference import INCOMPLETE, find_events, merged_file, weave
from results import assert_balanced, dropped, event_keys, read_ledger, read_merged

DEFINITION, OVERLAP = "gap:60,3", 10_000


class Streams:
    """Three intact streams and their events; damaged copies go to separate folders."""

    def __init__(self, folder):
        self.paths = [uri.removeprefix("file:") for uri in generate(
            folder, sources=3, rate=20_000, timing="poisson", hits=8, width="50ns", noise=200_000, duration="20ms", seed=5)]
        self.files = [read_epochs_file(path) for path in self.paths]
        self.clean = set(event_keys(self.expected()))

    def expected(self, skip=()):
        """Events of all hits except those of the epoch buffers `skip` of source 1."""
        hits = weave([hits_of_file(f, skip if n == 1 else ()) for n, f in enumerate(self.files)])
        return merged_file(find_events(hits, DEFINITION, OVERLAP))

    def run(self, folder, data, code, np=None):
        """A run in which source 1 reads `data` instead."""
        folder.mkdir(exist_ok=True)
        (folder / "damaged.epochs").write_bytes(data)
        paths = [self.paths[0], folder / "damaged.epochs", self.paths[2]]
        run = Run(folder / "run", [f"file:{path}" for path in paths], "--define", DEFINITION, "--builders", 2,
                  "--overlap", OVERLAP, "--epochs-per-slice", 16, code=code, np=np, timeout=60)
        if run.done.returncode != 2:
            self.check(run)
        return run

    def check(self, run):
        """Checks what must hold for any damage."""
        merged = read_merged(run.merged)
        assert_balanced(read_ledger(run.output))
        wrong = [key for key in event_keys(merged, INCOMPLETE) if key not in self.clean]
        assert not wrong, f"not flagged, yet not an event of the intact streams: {wrong[0]}"
        if run.done.returncode == 0:
            assert set(event_keys(merged)) == self.clean
        for mask, flags in zip(merged["events/sources_missing"], merged["events/flags"]):
            assert mask == (2 if flags & INCOMPLETE else 0)  # only source 1 is ever damaged


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    return Streams(tmp_path_factory.mktemp("streams"))


def flipped(data, offset, bit=0):
    damaged = bytearray(data)
    damaged[offset] ^= 1 << bit
    return bytes(damaged)


def assert_located(run, offset, slack=0):
    """A message names the file and an offset from `offset` to `slack` bytes after it."""
    lines = [line for line in run.done.stderr.splitlines() if "damaged.epochs" in line]
    assert lines, f"no message names the file:\n{run.done.stderr}"
    numbers = {int(text, 0) for line in lines for text in re.findall(r"\b0x[0-9a-f]+|\b\d+\b", line)}
    assert any(offset <= number <= offset + slack for number in numbers), f"no message names byte {offset}: {lines}"


def assert_lost_buffer(streams, run, number):
    """All events are those of the streams without that epoch buffer, which is counted."""
    buffer = streams.files[1].buffers[number]
    assert sorted(event_keys(read_merged(run.merged))) == sorted(event_keys(streams.expected({number})))
    ledger = read_ledger(run.output)
    assert sum(dropped(ledger).values()) == buffer.n_hits
    assert ledger["hits_in"].sum() == sum(b.n_hits for f in streams.files for b in f.buffers)
    epochs = range(buffer.first_epoch * OVERLAP, buffer.end_epoch * OVERLAP)
    merged = read_merged(run.merged)
    for time, length, flags in zip(merged["events/time"].tolist(), merged["events/duration"].tolist(), merged["events/flags"]):
        if time < epochs.stop and time + length >= epochs.start:
            assert flags & INCOMPLETE, f"the event at {time} touches the lost epochs"
        elif time >= epochs.stop + 1000 or time + length + 1000 < epochs.start:
            assert not flags & INCOMPLETE, f"the event at {time} is far from the lost epochs"


@pytest.mark.parametrize("np", [None, 3])
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_flipped_bit_in_words(tmp_path, streams, place, np):
    file = streams.files[1]
    number = {"first": 0, "middle": len(file.buffers) // 2, "last": len(file.buffers) - 1}[place]
    buffer = file.buffers[number]
    run = streams.run(tmp_path, flipped(file.data, buffer.offset + BUFFER_HEADER.size + 9, 3), code=3, np=np)
    assert_lost_buffer(streams, run, number)
    assert dropped(read_ledger(run.output))["corrupt"] == buffer.n_hits
    assert_located(run, buffer.offset, buffer.size)


@pytest.mark.parametrize("byte", [0, 5, 9, 13, 17, 25, 29, 33, 41, 49, 57])
def test_flipped_bit_in_a_buffer_header(tmp_path, streams, byte):
    file = streams.files[1]
    number = len(file.buffers) // 3
    run = streams.run(tmp_path, flipped(file.data, file.buffers[number].offset + byte, 1), code=3)
    assert_lost_buffer(streams, run, number)
    assert_located(run, file.buffers[number].offset, file.buffers[number].size)


def sealed(header, **fields):
    """A buffer header with changed fields and a right checksum."""
    names = ("magic", "header_crc", "words_crc", "source", "first_epoch", "n_epochs", "n_words", "n_hits",
             "n_payload_words", "hits_before", "stream_offset", "sequence")
    values = dict(zip(names, BUFFER_HEADER.unpack(header))) | fields
    values["header_crc"] = crc32c(BUFFER_HEADER.pack(*values.values())[8:])
    return BUFFER_HEADER.pack(*values.values())


@pytest.mark.parametrize("np", [None, 3])
@pytest.mark.parametrize("epoch", [2**64 - 3, 2**63])
def test_epoch_without_ticks(tmp_path, streams, epoch, np):
    """The checksums are right, but the ticks of the epoch do not fit 64 bits: the buffer's hits have no time."""
    file = streams.files[1]
    number = len(file.buffers) // 2
    buffer = file.buffers[number]
    header = sealed(file.data[buffer.offset:buffer.offset + BUFFER_HEADER.size], first_epoch=epoch, n_epochs=1)
    data = file.data[:buffer.offset] + header + file.data[buffer.offset + BUFFER_HEADER.size:file.index_offset]
    run = streams.run(tmp_path, data, code=3, np=np)
    assert_lost_buffer(streams, run, number)
    assert dropped(read_ledger(run.output))["corrupt"] == buffer.n_hits
    assert_located(run, buffer.offset)
    shown = eventloom("inspect", "--json", tmp_path / "damaged.epochs", code=3, timeout=20)
    assert json.loads(shown.stdout)["hits"] == sum(b.n_hits for b in file.buffers) - buffer.n_hits


@pytest.mark.parametrize("word, reason", [(0xF0000000, "type"), (0x20000001, ""), (0x1FF80000, ""), (0x60FFFFFF, "")])
def test_wrong_marker_behind_right_checksums(tmp_path, streams, word, reason):
    """A writer's fault: the checksums are right, but the words violate the format."""
    file = streams.files[1]
    number = len(file.buffers) // 2
    buffer = file.buffers[number]
    start, end = buffer.offset + BUFFER_HEADER.size, buffer.offset + BUFFER_HEADER.size + 4 * buffer.n_words
    words = file.data[start:start + 4] + struct.pack("<I", word) + file.data[start + 8:end]
    header = sealed(file.data[buffer.offset:start], words_crc=crc32c(words))
    data = file.data[:buffer.offset] + header + words + file.data[end:file.index_offset]  # the index knows the words, too
    run = streams.run(tmp_path, data, code=3)
    assert dropped(read_ledger(run.output))["corrupt"] == buffer.n_hits
    assert_located(run, buffer.offset, buffer.size)
    assert reason in run.done.stderr


def test_event_that_continues_into_lost_epochs_is_flagged(tmp_path, streams):
    """An event has two hits on either side of an epoch's edge; the later one is lost with its epoch buffer."""
    from program import eventloom
    from recordings import write_csv
    edge = 16 * 10_000
    write_csv(tmp_path / "0.csv", [edge - 40, edge - 20, edge + 500_000], [1, 2, 3])
    write_csv(tmp_path / "1.csv", [edge + 10, edge + 700_000], [4, 5])
    for name in "01":
        eventloom("convert", f"csv:{tmp_path}/{name}.csv?time=1&channel=2&unit=tick", "--output", tmp_path / f"{name}.epochs")
    file = read_epochs_file(tmp_path / "1.epochs")
    (tmp_path / "1.epochs").write_bytes(flipped(file.data, file.buffers[0].offset + BUFFER_HEADER.size + 4))
    run = Run(tmp_path / "run", [f"file:{tmp_path}/{name}.epochs" for name in "01"], "--define", "gap:60,2", code=3)
    merged = read_merged(run.merged)
    assert merged["events/time"].tolist() == [edge - 40]
    assert merged["events/flags"].tolist() == [INCOMPLETE]
    assert merged["events/sources_missing"].tolist() == [2]


def test_without_index_all_is_there(tmp_path, streams):
    file = streams.files[1]
    run = streams.run(tmp_path, file.data[:file.index_offset], code=None)
    assert set(event_keys(read_merged(run.merged))) == streams.clean
    assert sum(dropped(read_ledger(run.output)).values()) == 0


@pytest.mark.parametrize("cut", [-1, -63, -65, -200])
def test_damaged_index(tmp_path, streams, cut):
    """Cut in the trailer or the index: found by scanning; nothing is lost."""
    run = streams.run(tmp_path, streams.files[1].data[:cut], code=None)
    assert set(event_keys(read_merged(run.merged))) == streams.clean


@pytest.mark.parametrize("inside", [1, 63, 64, 70, -1])
def test_truncated_in_a_buffer(tmp_path, streams, inside):
    file = streams.files[1]
    number = len(file.buffers) // 2
    buffer = file.buffers[number]
    run = streams.run(tmp_path, file.data[:buffer.offset + inside % buffer.size], code=3)
    left = streams.expected(set(range(number, len(file.buffers))))
    assert sorted(event_keys(read_merged(run.merged))) == sorted(event_keys(left))
    assert_located(run, buffer.offset, buffer.size)


def piece(file, number):
    buffer = file.buffers[number]
    return file.data[buffer.offset:buffer.offset + buffer.size]


def rebuilt(file, numbers, with_index=False):
    """The stream of these epoch buffers, unchanged, in this order."""
    tail = file.data[file.index_offset:] if with_index else b""
    return file.data[:file.buffers[0].offset] + b"".join(piece(file, n) for n in numbers) + tail


@pytest.mark.parametrize("with_index", [False, True])
@pytest.mark.parametrize("what", ["duplicate", "swap", "remove"])
def test_buffers_moved_about(tmp_path, streams, what, with_index):
    file = streams.files[1]
    n = len(file.buffers)
    order = {"duplicate": [*range(n // 2 + 1), *range(n // 2, n)],
             "swap": [*range(n // 2), n // 2 + 1, n // 2, *range(n // 2 + 2, n)],
             "remove": [*range(n // 2), *range(n // 2 + 1, n)]}[what]
    run = streams.run(tmp_path, rebuilt(file, order, with_index), code=3)
    assert_located(run, 0, len(file.data) + 10**6)


@pytest.mark.parametrize("what", ["duplicate", "swap"])
def test_writer_that_repeats_or_reorders(tmp_path, streams, what):
    """Intact epoch buffers at their stated offsets, whose epochs do not ascend."""
    file = streams.files[1]
    n = len(file.buffers)
    order = {"duplicate": [*range(n // 2 + 1), *range(n // 2, n)],
             "swap": [*range(n // 2), n // 2 + 1, n // 2, *range(n // 2 + 2, n)]}[what]
    data, before = file.data[:file.buffers[0].offset], 0
    for position, number in enumerate(order):
        old = piece(file, number)
        data += sealed(old[:64], stream_offset=len(data), sequence=position, hits_before=before) + old[64:]
        before += file.buffers[number].n_hits
    run = streams.run(tmp_path, data, code=3)
    ledger = read_ledger(run.output)
    lost = dropped(ledger)
    assert lost["duplicate"] + lost["out_of_order"] == file.buffers[n // 2].n_hits and lost["corrupt"] == 0
    assert ledger["hits_in"].sum() == before + sum(b.n_hits for f in (streams.files[0], streams.files[2]) for b in f.buffers)


@pytest.mark.parametrize("byte", [0, 9, 13, 20, 24, 50])
def test_damaged_stream_header_cannot_be_opened(tmp_path, streams, byte):
    run = streams.run(tmp_path, flipped(streams.files[1].data, byte, 2), code=2)
    assert "damaged.epochs" in run.done.stderr
    assert not run.output.exists()


@pytest.mark.parametrize("size", [0, 1, 100])
def test_too_short_to_be_a_stream(tmp_path, streams, size):
    run = streams.run(tmp_path, streams.files[1].data[:size], code=2)
    assert "damaged.epochs" in run.done.stderr


@pytest.mark.parametrize("seed", range(30))
def test_anything_anywhere(tmp_path, streams, seed):
    """Seeded damage of every kind; Streams.check() defines what must hold."""
    choose = random.Random(seed)
    data = bytearray(streams.files[1].data)
    for _ in range(choose.choice([1, 1, 3, 20])):
        at, size = choose.randrange(128, len(data)), choose.choice([1, 4, 64, 1000])
        kind = choose.choice(["bit", "bytes", "zeros", "insert", "delete", "copy"])
        if kind == "bit":
            data[at] ^= 1 << choose.randrange(8)
        elif kind == "bytes":
            data[at:at + size] = choose.randbytes(len(data[at:at + size]))
        elif kind == "zeros":
            data[at:at + size] = bytes(len(data[at:at + size]))
        elif kind == "insert":
            data[at:at] = choose.randbytes(size)
        elif kind == "delete":
            del data[at:at + size]
        else:
            data[at:at] = data[choose.randrange(128, len(data)):][:size]
    run = streams.run(tmp_path, bytes(data), code=None, np=choose.choice([None, None, 2]))
    if run.done.returncode == 3:
        assert_located(run, 0, len(data))
