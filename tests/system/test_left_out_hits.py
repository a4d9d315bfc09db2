"""Hits excluded by their times: a stretch of time (--from, --to), dead times of channels, and copies of hits (unique), as
options, maps and files state them. Slices, set-ups and dead times are varied in tests/engine."""

import struct

import h5py
import numpy as np
import pytest

from detector_reference import correct, write_map
from epochs_file import hits_of_file, read_epochs_file
from program import Run, eventloom, generate, only_line
from recordings import write_csv
from reference import find_events, hits_of, merged_file, weave
from results import assert_balanced, assert_same, dropped, read_ledger, read_merged

EPOCH = 10_000
LAST = 2**63


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Streams in which the hits of a channel often follow one another closely."""
    folder = tmp_path_factory.mktemp("streams")
    uris = generate(folder, sources=3, rate=30_000, timing="poisson", hits=8, width="300ns", noise=400_000,
                    duration="10ms", payload=1, channels=4, seed=381)
    return uris, [hits_of_file(read_epochs_file(uri.removeprefix("file:"))) for uri in uris]


def packed(path, keys):
    return f"packed:{path}?record=16&time=u64le@0&channel=u32le@8&{keys}"


def left_out(hits, dead_of, first=0, end=LAST):
    """(kept, outside, dead): masks of hits in order, by a serial loop. `dead_of(source, channel)`: ticks."""
    outside = (hits.time < np.uint64(first)) | (hits.time >= np.uint64(end))
    dead, ready = np.zeros(len(hits), dtype=bool), {}
    for i in np.flatnonzero(~outside):
        place, time = (int(hits.source[i]), int(hits.channel[i])), int(hits.time[i])
        dead[i] = time < ready.get(place, 0)
        if not dead[i]:
            ready[place] = time + dead_of(*place)
    return ~outside & ~dead, outside, dead


def by_slice(times, length):
    numbers, counts = np.unique(times // np.uint64(length), return_counts=True)
    return {int(n): int(c) for n, c in zip(numbers, counts)}


def assert_equals(run, hits, dead_of, definition, length, first=0, end=LAST):
    kept, outside, dead = left_out(hits, dead_of, first, end)
    events = find_events(hits.take(np.flatnonzero(kept)), definition, EPOCH)
    found = read_merged(run.merged)
    expected = merged_file(events, with_payload=True)
    assert len(events.begin) > 20
    assert_same({name: found[name] for name in expected}, expected)
    account = read_ledger(run.output)
    assert_balanced(account)
    for cause, chosen in (("outside_stretch", outside), ("dead_time", dead)):
        column = {int(s): int(n) for s, n in zip(account["slice"], account[f"hits_dropped_{cause}"]) if n}
        assert column == by_slice(hits.time[chosen], length), cause
    assert account["hits_in"].sum() == len(hits)


@pytest.mark.parametrize("first, end, low, high, per_slice, ranks", [
    ("2500us", "7.123456ms", 2_500_000, 7_123_456, 1, 3),
    ("2.5ms", "3333333", 2_500_000, 3_333_333, 5, None)])  # only with ticks of 1 ns does the first precede the second
def test_dead_times_in_a_stretch_equal_a_serial_loop(tmp_path, recording, first, end, low, high, per_slice, ranks):
    """Slices are shorter than the dead times and their history."""
    uris, streams = recording
    run = Run(tmp_path, uris, "--define", "gap:300ns,2", "--dead-time", "20us", "--from", first, "--to", end,
              "--epochs-per-slice", per_slice, "--overlap", EPOCH, np=ranks)
    assert_equals(run, weave(streams), lambda *_: 20_000, "gap:300ns,2", per_slice * EPOCH, low, high)


def test_groups_and_maps_have_dead_times(tmp_path, recording):
    """The option overrides the map; other groups keep theirs; masked hits start no dead time; offsets are applied
    first."""
    uris, streams = recording
    rows = [{"channel": "0-0xfffffff", "dead_time_us": "2", "offset_ns": ""},
            {"source": "1", "channel": "", "dead_time_us": "0.9", "offset_ns": "-333", "group": "B"},
            {"source": "2", "channel": "", "dead_time_us": "", "offset_ns": "1250", "max_payload": "0x7fffffff"}]
    path = write_map(tmp_path / "map.csv", rows)
    names = [uri.removeprefix("file:") for uri in uris]
    corrected = correct(streams, names, rows)
    options = ["--define", "gap:60ns,2", "--detector", path, "--epochs-per-slice", 3, "--overlap", EPOCH]
    first = Run(tmp_path / "map", uris, *options, np=2, code=None)
    hits = corrected.hits
    kept, _, dead = left_out(hits, lambda source, _: 900 if source == 1 else 2_000)
    found = read_merged(first.merged)
    expected = merged_file(find_events(hits.take(np.flatnonzero(kept)), "gap:60ns,2", EPOCH), True)
    assert_same({name: found[name] for name in expected}, expected)
    assert dropped(read_ledger(first.output))["dead_time"] == dead.sum() > 0
    assert corrected.lost("cut") > 0
    with h5py.File(first.output) as file:
        assert sorted(file["detector/dead_time"][:]) == [900, 2_000, 2_000]
        assert file["detector/dead_time"].attrs["units"] == "ns"
    second = Run(tmp_path / "option", uris, *options, "--dead-time", "B=5us", np=2, code=None)
    _, _, dead = left_out(hits, lambda source, _: 5_000 if source == 1 else 2_000)
    assert dropped(read_ledger(second.output))["dead_time"] == dead.sum()


def test_utc_bounds_a_stretch(tmp_path):
    write_csv(tmp_path / "hits.csv", [0, 999_999_999, 1_000_000_000, 1_500_000_000, 2_000_000_000], range(5))
    uri = f"csv:{tmp_path}/hits.csv?time=1&channel=2&unit=tick"
    words = ["--define", "gap:1,1", "--from", "2026-11-25T10:00:01Z", "--to", "2026-11-25T11:00:02+01:00"]
    run = Run(tmp_path / "run", [uri], *words, "--time-origin", "2026-11-25T10:00:00Z")
    assert read_merged(run.merged)["hits/channel"].tolist() == [2, 3]
    assert dropped(read_ledger(run.output))["outside_stretch"] == 3
    done = eventloom("run", uri, *words, "--output", tmp_path / "other.h5", code=2)
    assert "add --time-origin" in only_line(done)


def test_a_stopped_run_continues_with_dead_times(tmp_path, recording):
    uris, streams = recording
    options = ["run", *[w for uri in uris for w in ("--source", uri)], "--define", "gap:60ns,2", "--overlap", EPOCH,
               "--epochs-per-slice", 3, "--segment-size", "20KiB", "--dead-time", "3us", "--from", "1ms", "--output",
               tmp_path / "run.h5"]
    eventloom(*options, "--speed", 0.02, "--duration", "200ms", np=2, code=75)
    other = [word if word != "3us" else "4us" for word in map(str, options)]
    assert "--dead-time was '3us', is '4us'" in eventloom(*other, "--resume", np=2, code=2).stderr
    other = [word if word != "1ms" else "2ms" for word in map(str, options)]
    assert "--from was '1ms', is '2ms'" in eventloom(*other, "--resume", np=2, code=2).stderr
    eventloom(*options, "--resume", np=3)
    eventloom("merge", tmp_path / "run.h5", "--output", tmp_path / "merged.h5")
    hits = weave(streams)
    kept, _, _ = left_out(hits, lambda *_: 3_000, 1_000_000)
    expected = merged_file(find_events(hits.take(np.flatnonzero(kept)), "gap:60ns,2", EPOCH), True)
    found = read_merged(tmp_path / "merged.h5")
    assert_same({name: found[name] for name in expected}, expected)


def test_a_resumed_run_must_be_per_source_again(tmp_path, recording):
    uris, _ = recording
    options = ["run", *[w for uri in uris for w in ("--source", uri)], "--define", "gap:60ns,2", "--segment-size", "20KiB",
               "--epochs-per-slice", 3, "--output", tmp_path / "run.h5"]
    eventloom(*options, "--per-source", "--speed", 0.02, "--duration", "200ms", np=2, code=75)
    assert "--per-source was 'true', is 'false'" in eventloom(*options, "--resume", code=2).stderr


@pytest.mark.parametrize("by_map", [True, False], ids=["map", "option"])
def test_saved_hits_have_dead_times_applied_once(tmp_path, by_map):
    """Restarted dead times of a pulser in each block would remove further hits from the remaining ones."""
    times = np.arange(0, 3_000_000, 100)
    write_csv(tmp_path / "hits.csv", times, [7] * len(times))
    path = write_map(tmp_path / "map.csv", [{"channel": "7", "dead_time_ns": "250", "name": "pulser"}])
    option = ["--dead-time", "250ns"]
    once = ["--detector", path] if by_map else option
    first = Run(tmp_path / "1", [f"csv:{tmp_path}/hits.csv?time=1&channel=2&unit=tick"], "--define", "gap:1,1", *once,
                "--save-sorted", tmp_path / "sorted", "--epochs-per-slice", 3, "--builders", 2, np=2)
    kept = read_merged(first.merged)
    assert 0 < len(kept["hits/time"]) < len(times) / 2
    saved = [f"sorted:{tmp_path}/sorted"]
    again = Run(tmp_path / "again", saved, "--define", "gap:1,1", "--epochs-per-slice", 7,
                *(["--detector", path] if by_map else []), "--save-sorted", tmp_path / "sorted_again", np=2)
    assert_same(read_merged(again.merged), kept)
    account = read_ledger(again.output)
    assert account["hits_in"].sum() == len(kept["hits/time"]) and dropped(account)["dead_time"] == 0
    twice = Run(tmp_path / "twice", [f"sorted:{tmp_path}/sorted_again"], "--define", "gap:1,1")
    assert_same(read_merged(twice.merged), kept)
    other = write_map(tmp_path / "other.csv", [{"channel": "7", "dead_time_ns": "350"}])
    for words in (option, ["--detector", other]):
        for folder in ("sorted", "sorted_again"):
            only_line(eventloom("run", f"sorted:{tmp_path}/{folder}", "--define", "gap:1,1", *words, "--output",
                                tmp_path / "no.h5", code=2), words[0], "without those within dead times")
    named = write_map(tmp_path / "named.csv", [{"channel": "7", "name": "other", "dead_time_ns": "0"}])
    assert_same(read_merged(Run(tmp_path / "named", saved, "--define", "gap:1,1", "--detector", named).merged), kept)


def test_hits_saved_without_dead_times_get_them_when_read(tmp_path, recording):
    uris, streams = recording
    path = write_map(tmp_path / "map.csv", [{"channel": "", "offset_ns": "40"}])
    Run(tmp_path / "1", uris, "--define", "gap:60ns,2", "--overlap", EPOCH, "--detector", path, "--save-sorted",
        tmp_path / "sorted", np=2)
    run = Run(tmp_path / "2", [f"sorted:{tmp_path}/sorted"], "--define", "gap:60ns,2", "--overlap", EPOCH, "--dead-time",
              "700ns", "--epochs-per-slice", 7, np=2)
    moved = correct(streams, [uri.removeprefix("file:") for uri in uris], [{"channel": "", "offset_ns": "40"}]).hits
    assert_equals(run, moved, lambda *_: 700, "gap:60ns,2", 7 * EPOCH)


@pytest.mark.parametrize("numbered", [False, True])
def test_copies_are_left_out(tmp_path, numbered):
    """Equal channel, time and payload; written next to the first hit, or after later ones."""
    rng = np.random.default_rng(61)
    times = np.sort(rng.integers(0, 40_000, 3_000))
    rows = [(int(t), int(c), int(w)) for t, c, w in zip(times, rng.integers(0, 4, 3_000), rng.integers(0, 3, 3_000))]
    written = list(rows)
    for i in rng.integers(0, len(rows), 800):
        written.insert(min(len(written), int(i) + int(rng.integers(0, 30))), rows[i])
    (tmp_path / "hits.bin").write_bytes(b"".join(struct.pack("<QII", *row) for row in written))
    uri = packed(tmp_path / "hits.bin", "numbered=yes" if numbered else "unit=tick") + "&payload=u32le@12&reorder=1000"
    definition = "tag" if numbered else "gap:20,2"
    run = Run(tmp_path / "run", [uri + "&unique"], "--define", definition, np=2)
    once, seen = [], set()
    for row in sorted(written, key=lambda row: row[0]):
        if row not in seen:
            seen.add(row)
            once.append(row)
    hits = hits_of(*([row[i] for row in once] for i in range(2)), payload=[row[2] for row in once])
    events = find_events(weave([hits]), definition, EPOCH)
    found, expected = read_merged(run.merged), merged_file(events, True)
    assert_same({name: found[name] for name in expected}, expected)
    account = read_ledger(run.output)
    assert_balanced(account)
    assert dropped(account)["copy"] == len(written) - len(once) > 800
    assert account["hits_in"].sum() == len(written)
    eventloom("convert", uri + "&unique", "--output", tmp_path / "once.epochs")
    assert len(hits_of_file(read_epochs_file(tmp_path / "once.epochs"))) == len(once)
    eventloom("convert", uri, "--output", tmp_path / "all.epochs")
    again = Run(tmp_path / "again", [f"file:{tmp_path}/all.epochs?unique"], "--define", definition)
    assert dropped(read_ledger(again.output))["copy"] == len(written) - len(once)


@pytest.mark.parametrize("words, said", [
    (["--dead-time", "PMT=5us"], "there is no group 'PMT'"),
    (["--dead-time", "5xs"], "'5xs'"),
    (["--dead-time", "0.5"], "0.5"),
    (["--dead-time", "=5us"], "expected GROUP=TIME or TIME"),
    (["--dead-time", "2h"], "2^32"),
    (["--from", "5ms", "--to", "5ms"], "is not before --to 5ms"),
    (["--from", "3us", "--to", "2000"], "is not before --to 2000"),
    (["--from", "tomorrow"], "--from"),
    (["--to", "2026-11-25T10:00:00Z"], "add --time-origin"),
])
def test_mistakes_are_named(tmp_path, recording, words, said):
    done = eventloom("run", recording[0][0], "--define", "gap:25,1", *words, "--output", tmp_path / "run.h5", code=2)
    assert said in only_line(done)
    assert not (tmp_path / "run.h5").exists()


def test_event_numbers_have_no_dead_time(tmp_path):
    (tmp_path / "hits.bin").write_bytes(b"".join(struct.pack("<QII", *row, 0) for row in ((1, 1), (2, 2), (9, 3))))
    uri = packed(tmp_path / "hits.bin", "numbered=yes")
    words = ["run", uri, "--define", "tag", "--output", tmp_path / "run.h5"]
    assert "event numbers" in only_line(eventloom(*words, "--dead-time", "5us", code=2))
    assert "event numbers" in only_line(eventloom(*words, "--from", "5us", code=2))
    run = Run(tmp_path / "part", [uri], "--define", "tag", "--from", 2, "--to", 9)
    assert read_merged(run.merged)["hits/channel"].tolist() == [2]
