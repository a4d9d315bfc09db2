"""Slices, overlaps and what is in flight: any of them go together, and the result is that of the serial reference."""

import pytest

from epochs_file import hits_of_file, read_epochs_file
from program import Run, generate
from reference import find_events, merged_file, weave
from results import assert_same, read_merged

DEFINITION = "gap:60,4"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    uris = generate(tmp_path_factory.mktemp("recording"), sources=3, rate=20_000, timing="poisson", hits=6,
                    width="200ns", noise=100_000, duration="4ms", payload=1, seed=3)
    return uris, weave([hits_of_file(read_epochs_file(uri.removeprefix("file:"))) for uri in uris])


@pytest.mark.parametrize("ranks, builders, filters, in_flight, epochs_per_slice, overlap_us, cell, depth", [
    (3, 1, 3, 1, 3, 200, "4KiB", 2),
    (4, 5, 2, 1, 2, 200, "1KiB", 8),
    (2, 2, 0, 4, 1, 500, "256", 1),
    (1, 1, 0, 1, 1, 50, "64KiB", 8),
])
@pytest.mark.parametrize("schedule", ["balanced", "chaotic"])
def test_an_overlap_of_more_slices_than_are_in_flight(recording, tmp_path, schedule, ranks, builders, filters, in_flight,
                                                      epochs_per_slice, overlap_us, cell, depth):
    uris, hits = recording
    run = Run(tmp_path, uris, "--schedule", schedule, "--builders", builders, "--filters", filters,
              "--slices-in-flight", in_flight, "--epochs-per-slice", epochs_per_slice, "--overlap", f"{overlap_us}us",
              "--cell-size", cell, "--ring-depth", depth, "--define", DEFINITION, np=ranks, timeout=30)
    assert_same(read_merged(run.merged), merged_file(find_events(hits, DEFINITION, overlap=overlap_us * 1000)))
