"""Generated streams compared with the truth that is written beside them."""

import csv

import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from program import Run, eventloom, generate
from reference import weave
from results import read_merged

COMMON = {"sources": 4, "timing": "poisson", "width": "50ns", "duration": "100ms"}


def read_truth(folder):
    with open(folder / "truth.csv") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([int(row[name]) for row in rows]) for name in ("time_first", "time_last", "n_hits")}


def read_streams(uris):
    return [hits_of_file(read_epochs_file(uri.removeprefix("file:"))) for uri in uris]


@pytest.mark.parametrize("seed", [1, 2])
def test_efficiency_and_purity(tmp_path, seed):
    uris = generate(tmp_path, rate=5_000, hits=12, noise=20_000, seed=seed, **COMMON)
    truth = read_truth(tmp_path)
    run = Run(tmp_path / "run", uris, "--define", "gap:100ns,5", "--builders", 2, np=2)
    found = read_merged(run.merged)
    begin, end = found["events/time"].astype(np.int64), (found["events/time"] + found["events/duration"]).astype(np.int64)
    wanted = truth["n_hits"] >= 5
    last = np.searchsorted(begin, truth["time_first"], side="right") - 1
    covered = (last >= 0) & (end[last] >= truth["time_last"])
    assert covered[wanted].mean() > 0.98
    first = np.searchsorted(truth["time_last"], begin)  # events of the truth ascend and hardly overlap
    inside = (first < len(wanted)) & (truth["time_first"][np.minimum(first, len(wanted) - 1)] <= end)
    assert inside.mean() > 0.98


def test_truth_describes_the_streams(tmp_path):
    """Without noise the streams hold exactly the hits of the events, near the requested rate and mean."""
    uris = generate(tmp_path, rate=5_000, hits=8, noise=0, payload=3, seed=3, **COMMON)
    truth, hits = read_truth(tmp_path), weave(read_streams(uris))
    assert len(uris) == COMMON["sources"] and len(np.unique(hits.source)) == COMMON["sources"]
    assert truth["n_hits"].sum() == len(hits)
    assert set(hits.payload_words) == {3}
    assert abs(len(truth["n_hits"]) - 500) < 5 * 500**0.5
    assert abs(truth["n_hits"].mean() - 8) < 5 * (8 / 500) ** 0.5
    inside = (np.searchsorted(hits.time, truth["time_last"].astype(np.uint64), side="right")
              - np.searchsorted(hits.time, truth["time_first"].astype(np.uint64)))
    assert (inside >= truth["n_hits"]).all()


@pytest.mark.parametrize("timing", ["static", "gaussian", "poisson", "burst"])
def test_same_seed_same_files(tmp_path, timing):
    def files(name, seed):
        (tmp_path / name).mkdir()
        eventloom("generate", "--output", "streams", "--sources", 3, "--timing", timing, "--rate", 5_000, "--hits", 8,
                  "--noise", 10_000, "--duration", "10ms", "--seed", seed, cwd=tmp_path / name)
        paths = sorted((tmp_path / name / "streams").glob("*.epochs"))
        assert all(len(hits_of_file(read_epochs_file(path))) for path in paths)
        return [path.read_bytes() for path in (*paths, tmp_path / name / "streams" / "truth.csv")]

    first = files("a", 7)
    assert files("b", 7) == first
    assert files("c", 8) != first
