"""The Python package writes `.epochs` files: the tests' own decoder and the program read the given hits from them."""

import json
import resource

import h5py
import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from program import DATA, Run, eventloom
from reference import find_events, hits_of, merged_file, weave
from results import assert_same, read_merged

CHANNELS = 1 << 28


def random_hits(rng, n, span, words):
    """Ascending times below `span`, channels of 28 bits, `words` words of payload each (None: none)."""
    shape = n if words == 1 else (n, words)
    payload = rng.integers(0, 1 << 32, shape) if words else None
    return np.sort(rng.integers(0, span, n)), rng.integers(0, CHANNELS, n), payload


def assert_holds(path, time, channel, payload=None):
    file = read_epochs_file(path)
    expected, found = hits_of(time, channel, payload=payload), hits_of_file(file)
    for name in ("time", "channel", "payload_words", "payload"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    return file


def converted(folder, time, channel, payload):
    """The file that `eventloom convert` writes of the same hits."""
    fields = [("time", "<u8"), ("channel", "<u4")] + ([("payload", "<u4")] if payload is not None else [])
    records = np.zeros(len(time), dtype=fields)
    records["time"], records["channel"] = time, channel
    if payload is not None:
        records["payload"] = payload
    records.tofile(folder / "hits.bin")
    keys = f"record={records.itemsize}&time=u64le@0&channel=u32le@8&unit=tick" + "&payload=u32le@12" * (payload is not None)
    eventloom("convert", f"packed:{folder / 'hits.bin'}?{keys}", "--output", folder / "converted.epochs")
    return folder / "converted.epochs"


# Few and many hits in an epoch, in an epoch buffer, and at one time; long pauses.
@pytest.mark.parametrize("n, span, words", [(1, 5, 0), (3000, 10**7, 1), (5000, 10**6, 0), (3000, 300, 1), (3000, 3, 0),
                                            (2000, 10**15, 1), (20_000, 3 * 10**5, 1)])
def test_the_same_bytes_as_convert(package, tmp_path, n, span, words):
    time, channel, payload = random_hits(np.random.default_rng(n + span), n, span, words)
    other = converted(tmp_path, time, channel, payload)
    said = read_epochs_file(other)
    package.write_epochs(tmp_path / "py.epochs", time, channel, payload, text=said.text, payload_names=said.payload_names)
    assert (tmp_path / "py.epochs").read_bytes() == other.read_bytes()
    assert_holds(tmp_path / "py.epochs", time, channel, payload)


@pytest.mark.parametrize("words", [2, 3, 254])
def test_rows_of_payload(package, tmp_path, words):
    hits = random_hits(np.random.default_rng(words), 700, 10**5, words)
    package.write_epochs(tmp_path / "py.epochs", *hits)
    assert_holds(tmp_path / "py.epochs", *hits)


@pytest.mark.parametrize("seed", range(4))
def test_in_pieces(package, tmp_path, seed):
    """Split anywhere, also between hits of one time and at the edges of epoch buffers: the bytes are those of one
    call."""
    rng = np.random.default_rng(seed)
    time, channel, payload = random_hits(rng, 5000, 10 ** (4 + seed), seed % 3)
    edges = np.arange(0, time[-1], 160_000)
    time[:2 * len(edges)] = np.repeat(edges, 2)
    time.sort()
    package.write_epochs(tmp_path / "whole.epochs", time, channel, payload)
    with package.EpochsWriter(tmp_path / "pieces.epochs") as file:
        begin = 0
        while begin < len(time):
            end = begin + int(rng.integers(0, 400))
            file.write(time[begin:end], channel[begin:end], payload[begin:end] if payload is not None else None)
            begin = end
    assert file.hits == len(time)
    assert (tmp_path / "pieces.epochs").read_bytes() == (tmp_path / "whole.epochs").read_bytes()


def test_payload_names(package, tmp_path):
    path = tmp_path / "py.epochs"
    package.write_epochs(path, [1, 2], 3, [[5, 6], [7, 8]], payload_names=["energy", "flags"])
    assert assert_holds(path, [1, 2], [3, 3], [[5, 6], [7, 8]]).payload_names == ["energy", "flags"]
    columns = json.loads(eventloom("inspect", "--json", path).stdout)["payload_columns"]
    assert [column["name"] for column in columns] == ["energy", "flags"]
    package.write_epochs(tmp_path / "none.epochs", [], [], payload_names=["energy"])
    assert read_epochs_file(tmp_path / "none.epochs").payload_table[0] == 1
    for names in (["a"], ["a", "b", "c"], ["a,b", "c"], ["a\n", "b"], ["", "b"], "ab", [1, 2]):
        with pytest.raises(ValueError, match="payload_names"):
            package.write_epochs(tmp_path / "wrong.epochs", [1, 2], 3, [[5, 6], [7, 8]], payload_names=names)
        assert not (tmp_path / "wrong.epochs").exists()


def test_types_of_numbers(package, tmp_path):
    """Lists, any integers, big-endian ones, one channel for all."""
    whole = tmp_path / "a.epochs"
    package.write_epochs(whole, [5, 7, 70_000], [9, 9, 9], [1, 2, 3])
    assert_holds(whole, [5, 7, 70_000], [9, 9, 9], [1, 2, 3])
    for number, kind in enumerate(("i4", "<i8", "u4", ">u8")):
        path = tmp_path / f"{number}.epochs"
        package.write_epochs(path, np.array([5, 7, 70_000], kind), 9, np.array([[1], [2], [3]], kind))
        assert path.read_bytes() == whole.read_bytes()


def test_large_numbers_in_lists(package, tmp_path):
    """Lists that numpy converts to floats or objects."""
    late = (1 << 63) + 12_345_678_901
    package.write_epochs(tmp_path / "py.epochs", [1, late], 3, [[1], [(1 << 32) - 1]])
    assert_holds(tmp_path / "py.epochs", np.array([1, late], "u8"), [3, 3], [1, (1 << 32) - 1])
    package.write_epochs(tmp_path / "objects.epochs", np.array([1, late], dtype=object), 3, [1, (1 << 32) - 1])
    assert (tmp_path / "objects.epochs").read_bytes() == (tmp_path / "py.epochs").read_bytes()


def test_numbers_of_numpy_as_options(package, tmp_path):
    package.write_epochs(tmp_path / "a.epochs", [1], 1, tick_ps=1000, epoch_ticks=500, source=3)
    package.write_epochs(tmp_path / "b.epochs", [1], 1, tick_ps=np.int64(1000), epoch_ticks=np.uint16(500), source=np.uint8(3))
    assert (tmp_path / "a.epochs").read_bytes() == (tmp_path / "b.epochs").read_bytes()


def test_sorted_on_request(package, tmp_path):
    """Hits of equal time keep their order."""
    time, channel, payload = [7, 5, 7, 5], [1, 2, 3, 4], [10, 20, 30, 40]
    package.write_epochs(tmp_path / "py.epochs", time, channel, payload, sort=True)
    assert_holds(tmp_path / "py.epochs", [5, 5, 7, 7], [2, 4, 1, 3], [20, 40, 10, 30])


@pytest.mark.parametrize("tick_ps, epoch_ticks", [(1000, 10_000), (1, 500_000), (25, 400_000), (10**6, 10), (10**9, 1)])
def test_header(package, tmp_path, tick_ps, epoch_ticks):
    """The default epoch is that of `convert`; text, id and clock are those that `inspect` shows."""
    path = tmp_path / "py.epochs"
    package.write_epochs(path, [1, 2], 3, tick_ps=tick_ps, source=17, text="pulser, für den Test", numbered=True)
    (tmp_path / "two.csv").write_text("time,channel\n1,3\n2,3\n")
    eventloom("convert", f"csv:{tmp_path / 'two.csv'}?unit=tick", "--tick", f"{tick_ps}ps", "--output", tmp_path / "other.epochs")
    file, other = read_epochs_file(path), read_epochs_file(tmp_path / "other.epochs")
    assert (file.tick_ps, file.epoch_ticks) == (other.tick_ps, other.epoch_ticks) == (tick_ps, epoch_ticks)
    shown = json.loads(eventloom("inspect", "--json", path).stdout)
    assert (shown["source"], shown["text"], shown["hits"], shown["damaged"]) == (17, "pulser, für den Test", 2, False)
    assert shown["flags"] == ["times are event numbers"] and shown["last_tick"] == 2


def test_no_hits(package, tmp_path):
    package.write_epochs(tmp_path / "none.epochs", [], [])
    package.write_epochs(tmp_path / "some.epochs", [100, 100], 1)
    assert_holds(tmp_path / "none.epochs", [], [])
    Run(tmp_path / "run", [f"file:{tmp_path / name}.epochs" for name in ("none", "some")], "--define", "tag")
    assert read_merged(tmp_path / "run" / "merged.h5")["hits/source"].tolist() == [1, 1]


@pytest.mark.parametrize("seed", range(4))
def test_events_of_it(package, tmp_path, seed):
    """From arrays to events: equal to those of the serial reference."""
    rng = np.random.default_rng(seed)
    columns = [random_hits(rng, 4000, 10**6, 1 + seed % 2) for _ in range(3)]
    for number, hits in enumerate(columns):
        package.write_epochs(tmp_path / f"{number}.epochs", *hits, source=number)
    uris = [f"file:{tmp_path / f'{number}.epochs'}" for number in range(3)]
    made = Run(tmp_path / "run", uris, "--define", "gap:60,4", "--builders", 2, "--segment-size", "100000", np=2)
    events = find_events(weave([hits_of(*hits[:2], payload=hits[2]) for hits in columns]), "gap:60,4", 10_000)
    with package.open(made.output) as run:
        found = run.columns()
        found.pop("events/slice")
        assert len(run) > 20
        assert_same(found, merged_file(events))


def test_any_file_that_python_reads(package, tmp_path):
    """A recording in HDF5, read with h5py: its events are those of the `hdf5:` source."""
    path = DATA / "km3net_orca4" / "orca4_run6633.h5"
    with h5py.File(path) as file:
        for name in sorted(name for name in file if name.startswith("dom_")):
            columns = (file[name][column][:] for column in ("time", "channel", "tot"))
            package.write_epochs(tmp_path / f"{name}.epochs", *columns, sort=True)
    own = Run(tmp_path / "own", [f"file:{tmp_path}/dom_*.epochs"], "--define", "gap:25ns,4")
    uri = f"hdf5:{path}?group=/dom_*&time=time&channel=channel&payload=tot&unit=ns"
    other = Run(tmp_path / "other", [uri], "--define", "gap:25ns,4")
    assert_same(read_merged(own.merged), read_merged(other.merged))


# Mistakes.

WRONG = {
    "float times": (([0.5], [1]), "whole ticks: numpy.rint"), "early": (([5, 3], [1, 1]), "hit 1, at 3, is earlier than the one before it, at 5: sort"),
    "negative": (([-1, 3], [1, 1]), "time -1 does not fit"), "late": (([(1 << 64) - 1], 1), "time 18446744073709551615 does"),
    "channel": (([1], [1 << 28]), "channel 268435456 does not fit: give numbers from 0 to 268435455"),
    "channels": (([1, 2], [1]), "2 times, but channel has the shape (1,)"), "names": (([1], ["a"]), "channel must be whole numbers"),
    "floats": (([1], [1], [0.5]), "values.astype(numpy.float32).view(numpy.uint32)"),
    "words": (([1], [1], [1 << 32]), "payload 4294967296 does not fit"), "too many": (([1], [1], [[0] * 255]), "at most 254"),
    "ragged": (([1, 2], [1, 1], [[1], [2, 3]]), "payload is no array of numbers, or its rows differ in length"),
    "mixed large": (([-1, 1 << 63], 1), "time -1 does not fit"), "objects": (([1, None], 1), "time must be whole ticks"),
    "too large": (([1, 1 << 64], 1), "time 18446744073709551616 does not fit"), "no numbers": (([1], 1, [{}]), "payload must be 32-bit words"),
    "payload": (([1, 2], [1, 1], [1]), "2 times, but payload has the shape (1,)"), "dimensions": (([[1]], [[1]]), "2 dimensions"),
}


@pytest.mark.parametrize("given, words", WRONG.values(), ids=WRONG)
@pytest.mark.every_case
def test_wrong_hits(package, tmp_path, given, words):
    """Refused in one line; no file is left."""
    with pytest.raises(ValueError) as error:
        package.write_epochs(tmp_path / "py.epochs", *given)
    assert words in str(error.value) and "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [{"tick_ps": 0}, {"epoch_ticks": 0}, {"epoch_ticks": (1 << 19) + 1}, {"source": -1},
                                     {"tick_ps": 1000.0}, {"tick_ps": "1000"}, {"epoch_ticks": np.float64(10)}, {"source": None},
                                     {"text": None}, {"text": b"x"}])
@pytest.mark.every_case
def test_wrong_options(package, tmp_path, options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} is .*: give "):
        package.write_epochs(tmp_path / "py.epochs", [1], 1, **options)
    assert list(tmp_path.iterdir()) == []


def test_pieces_that_do_not_follow(package, tmp_path):
    with package.EpochsWriter(tmp_path / "py.epochs") as file:
        file.write([10, 20], 1, [1, 2])
        with pytest.raises(ValueError, match="hit 2, at 19, is earlier than the one before it, at 20"):
            file.write([19], 1, [1])
        with pytest.raises(ValueError, match="2 words of payload a hit: the hits before had 1"):
            file.write([21], 1, [[1, 2]])
        file.write([20], 1, [3])
    assert_holds(tmp_path / "py.epochs", [10, 20, 20], [1, 1, 1], [1, 2, 3])


LONG = 600_000  # more hits than are encoded together


@pytest.mark.parametrize("time, channel, words", [(5, 1, "hit 600001, at 5, is earlier than the one before it, at 600001"),
                                                  (10**6, 1 << 28, "channel 268435456 does not fit")])
def test_a_call_that_is_refused_writes_nothing(package, tmp_path, time, channel, words):
    """Neither with a payload of undefined length."""
    times, channels = np.append(np.arange(LONG) + 2, time), np.append(np.zeros(LONG, int), channel)
    with package.EpochsWriter(tmp_path / "py.epochs") as file:
        with pytest.raises(ValueError, match="is earlier"):
            file.write([2, 1], 1, [3, 4])
        file.write([1], 1)
        with pytest.raises(ValueError, match=words):
            file.write(times, channels)
        assert file.hits == 1
    assert_holds(tmp_path / "py.epochs", [1], [1])


def test_writing_after_the_end(package, tmp_path):
    with package.EpochsWriter(tmp_path / "py.epochs") as file:
        file.write([1, 2], 1)
    for hits in ([9], []):
        with pytest.raises(ValueError, match="py.epochs' is complete: write everything before close"):
            file.write(hits, 1)
    assert file.hits == 2
    with pytest.raises(RuntimeError), package.EpochsWriter(tmp_path / "other.epochs") as file:
        raise RuntimeError
    for call in (lambda: file.write([1], 1), file.close):
        with pytest.raises(ValueError, match="other.epochs' was abandoned after an error: write it again"):
            call()
    assert [entry.name for entry in tmp_path.iterdir()] == ["py.epochs"]


def test_full_disk(package, tmp_path):
    """A caught error does not leave a file that looks complete."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    file = package.EpochsWriter(tmp_path / "py.epochs")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(OSError):
            file.write(np.arange(LONG), 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with pytest.raises(ValueError, match="abandoned after an error"):
        file.close()
    assert list(tmp_path.iterdir()) == []


def test_the_name_appears_when_it_is_complete(package, tmp_path):
    path, partial = tmp_path / "py.epochs", tmp_path / "py.epochs.partial"
    with package.EpochsWriter(path) as file:
        file.write([1], 1)
        assert partial.exists() and not path.exists()
        with pytest.raises(FileExistsError, match="py.epochs.partial' is being written"):
            package.EpochsWriter(path)
    assert path.exists() and not partial.exists()
    file.close()
    with pytest.raises(KeyboardInterrupt), package.EpochsWriter(tmp_path / "other.epochs") as file:
        file.write([1], 1)
        raise KeyboardInterrupt
    assert [entry.name for entry in tmp_path.iterdir()] == ["py.epochs"]


def test_nothing_is_overwritten(package, tmp_path):
    path, notes = tmp_path / "py.epochs", tmp_path / "notes.txt"
    package.write_epochs(path, [1], 1)
    notes.write_text("mine\n")
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        package.write_epochs(path, [2], 2)
    assert path.read_bytes() == before
    for other in (notes, tmp_path):
        with pytest.raises(FileExistsError, match="not an .epochs file"):
            package.write_epochs(other, [2], 2, overwrite=True)
    package.write_epochs(path, [2], 2, overwrite=True)
    assert_holds(path, [2], [2])
    assert notes.read_text() == "mine\n" and len(list(tmp_path.iterdir())) == 2
