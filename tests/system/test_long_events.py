"""Events longer than the overlap are cut there, flagged and counted; none vanishes: the least number of hits counts before
the cut."""

import h5py
import numpy as np
import pytest

from program import Run
from results import assert_balanced, read_ledger

OVERLAP = 40  # ns
TRUNCATED = 1


@pytest.fixture(scope="module")
def hits(tmp_path_factory):
    """Bursts of 1 to 80 hits at most 7 ns apart, in two channels 1 m apart."""
    choose = np.random.default_rng(53)
    times = []
    for begin in range(500, 60_000, 700):
        times += (begin + np.cumsum(choose.integers(0, 8, choose.integers(1, 81)))).tolist()
    channels = choose.integers(0, 2, len(times)).tolist()
    folder = tmp_path_factory.mktemp("hits")
    (folder / "hits.csv").write_text("t_ns,ch\n" + "".join(f"{t},{c}\n" for t, c in zip(times, channels)))
    (folder / "map.csv").write_text("channel,x_m\n0,0\n1,1\n")
    return folder, times


def cut_runs(times, gap, least):
    """[(time of the first hit, number of hits, flags)] of runs of at least `least` hits, cut at the overlap."""
    runs = np.split(np.array(times), np.flatnonzero(np.diff(times) > gap) + 1)
    events = []
    for run in runs:
        if len(run) >= least:
            kept = run[run <= run[0] + OVERLAP]
            events.append((int(kept[0]), len(kept), TRUNCATED if len(kept) < len(run) else 0))
    return events


def found(run):
    with h5py.File(run.merged) as file:
        return list(zip(*(file[f"events/{name}"][:].tolist() for name in ("time", "n_hits", "flags"))))


SETUPS = [(None, []), (None, ["--epochs-per-slice", 1]), (4, ["--epochs-per-slice", 2, "--builders", 3]),
          (3, ["--epochs-per-slice", 3, "--builders", 2, "--filters", 1])]


@pytest.mark.parametrize("least", [1, 12, 50])
@pytest.mark.parametrize("definition", ["gap:7,{}", "cluster:7,1,{}"])
@pytest.mark.parametrize("ranks, options", SETUPS)
def test_the_least_number_of_hits_counts_before_the_cut(tmp_path, hits, definition, least, ranks, options):
    """The distance of the channels is DR, so that a cluster of all hits is a run of them."""
    folder, times = hits
    expected = cut_runs(times, 7, least)
    assert sum(flags for _, _, flags in expected) >= 20
    assert least == 1 or any(n < least for _, n, _ in expected), "events that keep fewer hits than that"
    run = Run(tmp_path, [folder / "hits.csv"], "--define", definition.format(least), "--detector", folder / "map.csv",
              "--overlap", OVERLAP, "--epoch", "64ns", *options, np=ranks, code=3)
    assert found(run) == expected
    assert_balanced(read_ledger(run.output))
    assert run.report()["totals"]["events_truncated"] == sum(flags for _, _, flags in expected)


def test_one_that_keeps_few_hits_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("t_ns,ch\n100,0\n102,1\n104,0\n106,1\n900,0\n")
    for name, definition in (("plain", "gap:2,4"), ("widened", "gap:2,4,1,1")):
        run = Run(tmp_path / name, [tmp_path / "a.csv"], "--define", definition, "--overlap", 3, "--epoch", "64ns", code=3)
        assert found(run) == [(100, 2, TRUNCATED)]
        assert "1 event truncated: raise --overlap (now 3ns)" in run.done.stderr
