"""Small handmade inputs, at the edges of slices, epochs and sources."""

import numpy as np
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
    "on_slice_edges": [hits(0, 99, 100, 101, 199, 200, 300, 399, 400), hits(100, 200, 299, 300, 499, 500)],
    "across_slice_edges": [hits(90, 95, 100, 105, 195, 200), hits(98, 102, 202, 205, 299), hits(301)],
    "equal_times": [hits(50, 50, 100, 100, 200), hits(50, 100, 100, 200, 200), hits(50, 100, 200)],
    "empty_epochs": [hits(5, 6, 100_005, 100_006), hits(7, 50_000, 50_001)],
    "empty_source": [hits(5, 6, 205), [], hits(7, 206)],
    "one_hit": [[], hits(123)],
    "one_source_one_hit": [hits(0)],
    "no_hit": [[], []],
    "early_end": [hits(*range(3, 1000, 7)), hits(3, 4, 5), hits(*range(900, 950, 2))],
    "late_start": [hits(*range(70_000, 71_000, 7)), hits(*range(70_900, 73_000, 11))],
    # Epoch numbers have 28 bits on the wire: the run passes the end of that range.
    "epoch_number_wraps": [hits(*(2**28 * EPOCH + d for d in (-150, -101, -100, -1, 0, 1, 99, 100, 101))),
                           hits(*(2**28 * EPOCH + d for d in (-99, 0, 0, 2, 150)))],
    "a_little_out_of_order": [hits(105, 99, 101, 100, 98, 205, 199, 201), hits(100, 96, 203, 200)],
}
# The longest length of each: a shorter overlap is refused.
LONGEST = {"gap:5,2": 5, "gap:1,1": 1, "multiplicity:10,2": 10, "multiplicity:10,2,1,2": 20, "multiplicity:7,3,3,0": 21, "tag": 0}
DEFINITIONS = list(LONGEST)


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("name", INPUTS)
def test_edges(tmp_path, name, definition):
    check(tmp_path, INPUTS[name], definition)


@pytest.mark.parametrize("per_slice, np, options", [(1, 3, ["--builders", 3]), (3, 2, ["--schedule", "chaotic"]),
                                                    (1000, 5, ["--builders", 2, "--filters", 2])])
@pytest.mark.parametrize("name", ["on_slice_edges", "equal_times", "empty_source", "one_hit", "no_hit", "early_end"])
def test_edges_on_several_ranks(tmp_path, name, per_slice, np, options):
    check(tmp_path, INPUTS[name], "gap:5,2", *options, per_slice=per_slice, np=np)


@pytest.mark.parametrize("per_slice", [1, 2, 10, 1000])
@pytest.mark.parametrize("definition", ["gap:5,2", "gap:5,22", "multiplicity:10,2", "multiplicity:10,2,1,1"])
def test_events_longer_than_the_overlap(tmp_path, definition, per_slice):
    """Events are cut at the overlap and flagged, exit code 3, wherever slices end."""
    chain = range(40, 1000, 5)
    streams = [hits(*chain, *range(1200, 1303, 5), 1500), hits(*(t + 2 for t in chain), *range(1702, 1800, 3))]
    run = check(tmp_path, streams, definition, per_slice=per_slice)
    if "22" not in definition:
        assert "truncated" in (run.done.stdout + run.done.stderr).lower()


@pytest.mark.parametrize("overlap, truncated", [(99, True), (100, False), (101, False)])
def test_as_long_as_the_overlap_is_not_longer(tmp_path, overlap, truncated):
    run = check(tmp_path, [hits(*range(50, 151, 10))], "gap:10,2", overlap=overlap)
    assert (run.done.returncode == 3) == truncated


@pytest.mark.parametrize("seed", range(24))
def test_random_streams(tmp_path, seed):
    """Dense and sparse stretches, equal times, and gaps of all lengths around an epoch."""
    rng = np.random.default_rng(seed)
    streams = []
    for _ in range(rng.integers(1, 5)):
        steps = rng.choice([0, 1, 2, 5, 10, 40, 100, 700], size=rng.integers(0, 400), p=rng.dirichlet(np.ones(8)))
        times = (rng.integers(0, 10**6) * (seed % 2) + np.cumsum(steps)).tolist()
        streams.append(list(zip(times, rng.integers(0, 2**28, len(times)).tolist())))
    definition = DEFINITIONS[seed % len(DEFINITIONS)]
    check(tmp_path, streams, definition, "--builders", rng.integers(1, 4), "--filters", rng.integers(0, 3),
          overlap=max(LONGEST[definition], rng.choice([0, 20, 100, 350])),
          per_slice=rng.choice([1, 2, 5, 100]), epoch=rng.choice([64, 100, 1000]),
          np=rng.choice([None, 2, 3]), omp=rng.choice([1, 2]))


def test_sixteen_ranks(tmp_path):
    check(tmp_path, INPUTS["early_end"], "gap:5,2", "--builders", 4, "--filters", 3, np=16)


def test_two_ranks_that_are_both_source_and_builder(tmp_path):
    check(tmp_path, [hits(*range(0, 20_000, 3)), hits(*range(1, 20_000, 4))], "gap:1,3", "--builders", 2,
          "--cell-size", "4KiB", "--ring-depth", 2, np=2)


def test_epoch_buffers_larger_than_all_cells(tmp_path):
    """One slice holds some 200 KB per source; the ring holds 8 KB."""
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
