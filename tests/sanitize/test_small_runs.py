"""Small runs of the program with sanitizers built in: they find nothing, and the result is the serial reference's."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from epochs_file import hits_of_file, read_epochs_file  # noqa: E402
from program import BINARY, Run, eventloom, generate  # noqa: E402
from reference import find_events, ledger, merged_file, weave  # noqa: E402
from results import assert_balanced, assert_same, ledger_rows, read_ledger, read_merged  # noqa: E402

EPOCH = 10_000  # ticks
# ranks, OpenMP threads, epochs per slice, definition, options
RUNS = [
    (2, 2, 3, "gap:60,4", ["--builders", 1]),
    (3, 1, 100, "multiplicity:100,5,1,2", ["--builders", 2, "--filters", 1, "--schedule", "chaotic"]),
    (3, 2, 10, "tag", ["--builders", 3, "--schedule", "balanced", "--cell-size", "4KiB"]),
]


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    """URIs of three sources, and their hits in order."""
    uris = generate(tmp_path_factory.mktemp("streams"), sources=3, rate=20_000, timing="poisson", hits=8, width="50ns",
                    noise=100_000, duration="20ms", payload=2, seed=1)
    return uris, weave([hits_of_file(read_epochs_file(uri.removeprefix("file:"))) for uri in uris])


def test_the_program_is_sanitized():
    assert b"__asan_init" in Path(BINARY).read_bytes()


def assert_clean(done):
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr


@pytest.mark.parametrize("ranks, threads, per_slice, definition, options", RUNS)
def test_run_and_merge(tmp_path, streams, ranks, threads, per_slice, definition, options):
    uris, hits = streams
    run = Run(tmp_path, uris, "--define", definition, *options, "--epochs-per-slice", per_slice, "--epoch", EPOCH,
              np=ranks, omp=threads)
    assert_clean(run.done)
    events = find_events(hits, definition, overlap=EPOCH)
    assert len(events.begin) > 0
    assert_same(read_merged(run.merged), merged_file(events))
    account = read_ledger(run.output)
    assert_balanced(account)
    assert ledger_rows(account) == ledger(events, per_slice * EPOCH)


def test_what_goes_wrong_is_reported_without_a_finding(tmp_path, streams):
    """The way out of an error destroys what a good end destroys."""
    damaged = tmp_path / "damaged.epochs"
    whole = Path(streams[0][0].removeprefix("file:")).read_bytes()
    damaged.write_bytes(whole[:len(whole) // 2] + bytes(100) + whole[len(whole) // 2 + 100:])
    assert_clean(Run(tmp_path, [f"file:{damaged}"], "--define", "gap:60,4", np=2, code=3).done)
    assert_clean(eventloom("run", "--source", f"file:{tmp_path}/none.epochs", "--define", "tag",
                           "--output", tmp_path / "none.h5", np=2, code=2))
