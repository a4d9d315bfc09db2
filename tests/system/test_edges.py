"""Small handmade inputs, at the edges of slices, epochs and sources, from tables to merged files. All set-ups and more
definitions are played in tests/engine."""

import pytest

from program import Run, eventloom
from recordings import write_csv
from reference import find_events, hits_of, ledger, merged_file, weave
from results import assert_balanced, assert_same, assert_unfinished, ledger_rows, read_ledger, read_merged

EPOCH = 100  # ticks


def check(folder, streams, definition, *options, overlap=EPOCH, per_slice=1, epoch=EPOCH, np=None, omp=None):
    """Runs `streams`, a list of (time, channel) per source, and compares with the reference; returns the run."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, stream in enumerate(streams):
        write_csv(folder / f"{number:02}.csv", [t for t, _ in stream], [c for _, c in stream])
    hits = weave([hits_of([t for t, _ in s], [c for _, c in s]) for s in streams])
    events = find_events(hits, definition, overlap)
    run = Run(folder / "run", [f"csv:{folder}/*.csv?time=1&channel=2&unit=tick"], "--define", definition,
              "--epoch", epoch, "--overlap", overlap, "--epochs-per-slice", per_slice, *options,
              code=3 if events.truncated.any() else 0, np=np, omp=omp)
    assert_same(read_merged(run.merged), merged_file(events, with_payload=False))
    account = read_ledger(run.output)
    assert_balanced(account)
    assert ledger_rows(account) == ledger(events, per_slice * epoch)
    return run


def hits(*times):
    return [(time, number) for number, time in enumerate(times)]


# Slices of 100 ticks end at 100, 200, ...
INPUTS = {
    "equal_times": [hits(50, 50, 100, 100, 200), hits(50, 100, 100, 200, 200), hits(50, 100, 200)],
    "no_hit": [[], []],
    "early_end_of_one": [hits(*range(3, 1000, 7)), [], hits(*range(900, 950, 2))],
    # Epoch numbers have 28 bits on the wire: the run passes the end of that range.
    "epoch_number_wraps": [hits(*(2**28 * EPOCH + d for d in (-150, -101, -100, -1, 0, 1, 99, 100, 101))),
                           hits(*(2**28 * EPOCH + d for d in (-99, 0, 0, 2, 150)))],
    "a_little_out_of_order": [hits(105, 99, 101, 100, 98, 205, 199, 201), hits(100, 96, 203, 200)],
}


@pytest.mark.parametrize("name", INPUTS)
def test_edges(tmp_path, name):
    check(tmp_path, INPUTS[name], "gap:5,2", "--builders", 2, np=2)


@pytest.mark.parametrize("definition, per_slice", [("gap:5,2", 1), ("multiplicity:10,2", 10)])
def test_events_longer_than_the_overlap(tmp_path, definition, per_slice):
    """Events are cut at the overlap and flagged, exit code 3."""
    chain = range(40, 1000, 5)
    streams = [hits(*chain, *range(1200, 1303, 5), 1500), hits(*(t + 2 for t in chain), *range(1702, 1800, 3))]
    run = check(tmp_path, streams, definition, per_slice=per_slice)
    assert run.done.returncode == 3
    assert "truncated" in (run.done.stdout + run.done.stderr).lower()


def test_sixteen_ranks(tmp_path):
    check(tmp_path, INPUTS["early_end_of_one"], "gap:5,2", "--builders", 4, "--filters", 3, np=16)


def test_epoch_buffers_larger_than_all_cells(tmp_path):
    """One slice holds some 200 KB per source; the ring holds 8 KB. Both ranks are source and builder."""
    check(tmp_path, [hits(*range(0, 50_000, 2)), hits(*range(1, 50_000, 2))], "tag", "--builders", 2, "--cell-size", "4KiB",
          "--ring-depth", 2, per_slice=1, epoch=100_000, np=2)


def test_disorder_beyond_the_bound_is_an_error(tmp_path):
    """A text file is read only once: hits far back in time are refused with file and line."""
    times = [*range(0, 30_000_000, 10), 5]
    write_csv(tmp_path / "back.csv", times, [0] * len(times))
    done = eventloom("run", "--source", f"csv:{tmp_path}/back.csv?time=1&channel=2&unit=tick", "--define", "tag",
                     "--output", tmp_path / "run.h5", code=2)
    assert "back.csv" in done.stderr
    assert_unfinished(tmp_path)
