"""Windows of seconds at ticks of 1 ns, so that the data of a slice span more than 2^32 ticks: units of options, default
overlaps, maps, and hits that are saved sorted and read back. Definitions, slices and offsets are varied in tests/engine."""

import numpy as np
import pytest

from detector_reference import correct, write_map
from program import Run, eventloom
from recordings import write_csv
from reference import find_events, hits_of, ledger, merged_file, weave
from results import assert_balanced, assert_same, ledger_rows, read_ledger, read_merged

SECOND = 1_000_000_000
SLICES = 400_000


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Three sources, 1000 s, one hit in 4 s each, and groups of hits; slightly unordered."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(21)
    uris, streams = [], []
    for number in range(3):
        times = rng.integers(0, 1000 * SECOND, 250)
        near = np.repeat(rng.integers(0, 999 * SECOND, 50), 5) + rng.integers(0, SECOND // 5, 250)
        times = np.sort(np.concatenate([times, near]))
        channels = rng.integers(0, 4, len(times))
        late = rng.integers(0, 3_000_000, len(times))
        order = np.argsort(times + late, kind="stable")
        write_csv(folder / f"{number}.csv", times[order], channels[order])
        uris.append(f"csv:{folder}/{number}.csv?time=1&channel=2&unit=tick")
        streams.append(hits_of(times[order], channels[order]).take(np.argsort(times[order], kind="stable")))
    return uris, streams


def test_without_options(tmp_path, recording):
    """The default overlap is 20 times the window; slices grow with it."""
    uris, streams = recording
    definition = "coincidence:1s,channel:1>=2 && channel:2>=2"
    run = Run(tmp_path, uris, "--define", definition, np=2)
    assert "overlap 20s" in run.done.stderr
    found, expected = read_merged(run.merged), merged_file(find_events(weave(streams), definition, 20 * SECOND))
    assert_same({name: found[name] for name in expected}, expected)


@pytest.mark.parametrize("read_back_with", ["the same options", "another definition", "the map"])
def test_offsets_of_seconds_of_saved_hits(tmp_path, recording, read_back_with):
    """Offsets between channels of one source, so that the hits of a slice lie far apart; saved sorted, and read
    back."""
    uris, streams = recording
    rows = [{"source": "0", "channel": "1", "offset_ns": "9500000001"}, {"source": "0", "channel": "2", "offset_ns": "-3999999999"},
            {"source": "1", "channel": "", "offset_ns": "5123456789"}, {"source": "2", "channel": "3", "mask": "1"}]
    rows = [{"offset_ns": "", "mask": "", **row} for row in rows]
    the_map = ["--detector", write_map(tmp_path / "map.csv", rows)]
    names = [uri.partition(":")[2].partition("?")[0] for uri in uris]
    hits = correct(streams, names, rows).hits
    late = read_back_with == "the map"
    definition, again = "gap:80ms,4,0,700ms", "gap:90ms,4" if read_back_with == "another definition" else "gap:80ms,4,0,700ms"
    options = ["--overlap", 5 * SECOND, "--epochs-per-slice", SLICES]
    run = Run(tmp_path / "run", uris, "--define", definition, *options, *([] if late else the_map), "--save-sorted",
              tmp_path / "sorted", np=2, code=None)
    assert_equal(run, weave(streams) if late else hits, definition)
    account = read_ledger(run.output)
    assert_balanced(account)
    if late:
        assert ledger_rows(account) == ledger(find_events(weave(streams), definition, 5 * SECOND), SLICES * 10_000)
    back = Run(tmp_path / "again", [f"sorted:{tmp_path}/sorted"], "--define", again, *options, *(the_map if late else []),
               np=2, code=None)
    assert_equal(back, hits, again)


def assert_equal(run, hits, definition):
    events = find_events(hits, definition, 5 * SECOND)
    assert len(events.begin) > 10
    found, expected = read_merged(run.merged), merged_file(events)
    assert_same({name: found[name] for name in expected}, expected)


def test_too_long_windows_are_refused(tmp_path, recording):
    done = eventloom("run", recording[0][0], "--define", "coincidence:10s,channel:1>=1", "--output", tmp_path / "run.h5", code=2)
    assert "2^36 ticks" in done.stderr
    Run(tmp_path / "run", recording[0][:1], "--define", "coincidence:10s,channel:1>=1", "--overlap", "12s", code=None)
