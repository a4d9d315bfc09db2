"""Windows of seconds at ticks of 1 ns: the data of a slice span more than 2^32 ticks, with and without offsets, saved
sorted and read back."""

import numpy as np
import pytest

from detector_reference import correct, write_map
from program import Run, eventloom
from recordings import write_csv
from reference import find_events, hits_of, ledger, merged_file, weave
from results import assert_balanced, assert_same, ledger_rows, read_ledger, read_merged

SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Three sources, 2000 s, one hit in 4 s each, and groups of hits; slightly unordered."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(21)
    uris, streams = [], []
    for number in range(3):
        times = rng.integers(0, 2000 * SECOND, 500)
        near = np.repeat(rng.integers(0, 1999 * SECOND, 100), 5) + rng.integers(0, SECOND // 5, 500)
        times = np.sort(np.concatenate([times, near]))
        channels = rng.integers(0, 4, len(times))
        late = rng.integers(0, 3_000_000, len(times))
        order = np.argsort(times + late, kind="stable")
        write_csv(folder / f"{number}.csv", times[order], channels[order])
        uris.append(f"csv:{folder}/{number}.csv?time=1&channel=2&unit=tick")
        streams.append(hits_of(times[order], channels[order]).take(np.argsort(times[order], kind="stable")))
    return uris, streams


DEFINITIONS = [
    ("coincidence:1s,channel:1>=1 && channel:2>=1 && source:0>=1", [], 4 * SECOND),
    ("gap:80ms,4", [], 5 * SECOND),
    ("gap:60ms,3,1s,500ms", ["--epochs-per-slice", 100_000], 7 * SECOND),
    ("multiplicity:250ms,4,1,2", ["--epochs-per-slice", 1_000_000], 6 * SECOND),
    ("coincidence:100ms,n_hits>=4,300ms,2s", ["--epochs-per-slice", 3_333_333], 3 * SECOND),
]


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("definition, options, overlap", DEFINITIONS, ids=range(len(DEFINITIONS)))
def test_equals_the_reference(tmp_path, recording, definition, options, overlap, ranks):
    uris, streams = recording
    run = Run(tmp_path, uris, "--define", definition, "--overlap", overlap, *options, np=ranks, code=None)
    events = find_events(weave(streams), definition, overlap)
    assert len(events.begin) > 10
    found, expected = read_merged(run.merged), merged_file(events)
    assert_same({name: found[name] for name in expected}, expected)
    account = read_ledger(run.output)
    assert_balanced(account)
    if options:
        assert ledger_rows(account) == ledger(events, options[1] * 10_000)


def test_without_options(tmp_path, recording):
    """The default overlap is 20 times the window; slices grow with it."""
    uris, streams = recording
    definition = "coincidence:1s,channel:1>=2 && channel:2>=2"
    run = Run(tmp_path, uris, "--define", definition, np=2)
    assert "overlap 20s" in run.done.stderr
    found, expected = read_merged(run.merged), merged_file(find_events(weave(streams), definition, 20 * SECOND))
    assert_same({name: found[name] for name in expected}, expected)


@pytest.mark.parametrize("slices", [50_000, 400_000])
def test_offsets_of_seconds(tmp_path, recording, slices):
    """Offsets between channels of one source, so that the hits of a slice lie far apart; saved sorted, and read
    back."""
    uris, streams = recording
    rows = [{"source": "0", "channel": "1", "offset_ns": "9500000001"}, {"source": "0", "channel": "2", "offset_ns": "-3999999999"},
            {"source": "1", "channel": "", "offset_ns": "5123456789"}, {"source": "2", "channel": "3", "mask": "1"}]
    rows = [{"offset_ns": "", "mask": "", **row} for row in rows]
    path = write_map(tmp_path / "map.csv", rows)
    names = [uri.partition(":")[2].partition("?")[0] for uri in uris]
    hits = correct(streams, names, rows).hits
    definition, overlap = "gap:80ms,4,0,700ms", 5 * SECOND
    options = ["--define", definition, "--overlap", overlap, "--epochs-per-slice", slices]
    run = Run(tmp_path / "run", uris, *options, "--detector", path, "--save-sorted", tmp_path / "sorted", np=2, code=None)
    found, expected = read_merged(run.merged), merged_file(find_events(hits, definition, overlap))
    assert_same({name: found[name] for name in expected}, expected)
    for number, words in enumerate((options, [w if w != definition else "gap:90ms,4" for w in options])):
        again = Run(tmp_path / f"again{number}", [f"sorted:{tmp_path}/sorted"], *words, np=2, code=None)
        found, expected = read_merged(again.merged), merged_file(find_events(hits, words[1], overlap))
        assert_same({name: found[name] for name in expected}, expected)
    plain = Run(tmp_path / "plain", uris, *options, "--save-sorted", tmp_path / "uncorrected", np=2)
    assert plain.done.returncode == 0
    late = Run(tmp_path / "late", [f"sorted:{tmp_path}/uncorrected"], *options, "--detector", path, np=2, code=None)
    found, expected = read_merged(late.merged), merged_file(find_events(hits, definition, overlap))
    assert_same({name: found[name] for name in expected}, expected)


def test_too_long_windows_are_refused(tmp_path, recording):
    done = eventloom("run", recording[0][0], "--define", "coincidence:10s,channel:1>=1", "--output", tmp_path / "run.h5", code=2)
    assert "2^36 ticks" in done.stderr
    Run(tmp_path / "run", recording[0][:1], "--define", "coincidence:10s,channel:1>=1", "--overlap", "12s", code=None)
