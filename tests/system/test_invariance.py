"""The result is a function of the input and the definition alone: however a run is done, it equals the serial
reference."""

import functools

import pytest

import truth
from epochs_file import hits_of_file, read_epochs_file
from program import Run, generate, schedule_table
from reference import find_events, ledger, merged_file, weave
from results import assert_balanced, assert_builders, assert_same, ledger_rows, read_ledger, read_merged

# Every pair of values of any two columns occurs at least once, of the first two schedules.
# ranks, builders, filters, schedule, OpenMP threads, epochs per slice, cell size, ring depth, number of the definition
CONFIGURATIONS = [
    (3, 2, 0, "round-robin", 1, 1000, "4KiB", 8, 2),
    (1, 1, 2, "round-robin", 2, 1, "1MiB", 2, 1),
    (5, 4, 3, "chaotic", 2, 10, "16KiB", 32, 0),
    (2, 3, 1, "chaotic", 1, 1, "64KiB", 2, 2),
    (8, 1, 0, "round-robin", 1, 10, "64KiB", 32, 1),
    (8, 4, 2, "chaotic", 1, 1000, "1MiB", 8, 0),
    (2, 3, 3, "round-robin", 2, 1000, "4KiB", 8, 1),
    (8, 2, 1, "round-robin", 2, 1, "16KiB", 2, 0),
    (1, 2, 3, "chaotic", 1, 10, "1MiB", 32, 2),
    (5, 4, 0, "round-robin", 2, 1, "4KiB", 2, 2),
    (5, 1, 1, "chaotic", 1, 1000, "16KiB", 8, 1),
    (3, 3, 2, "chaotic", 2, 10, "4KiB", 2, 0),
    (1, 3, 0, "chaotic", 2, 1000, "64KiB", 2, 0),
    (3, 4, 3, "chaotic", 1, 1, "64KiB", 8, 1),
    (2, 1, 2, "chaotic", 2, 1, "16KiB", 32, 2),
    (3, 1, 1, "round-robin", 1, 1000, "4KiB", 32, 0),
    (2, 4, 1, "chaotic", 2, 10, "1MiB", 8, 0),
    (5, 2, 2, "round-robin", 2, 10, "64KiB", 2, 1),
    (8, 3, 0, "round-robin", 2, 1, "1MiB", 32, 2),
    (8, 1, 3, "chaotic", 1, 1, "4KiB", 2, 2),
    (1, 4, 1, "chaotic", 2, 1, "4KiB", 8, 0),
    (5, 3, 0, "round-robin", 1, 10, "16KiB", 32, 1),
    (2, 2, 0, "round-robin", 1, 10, "1MiB", 32, 1),
    (5, 1, 2, "round-robin", 2, 1, "1MiB", 32, 1),
    (3, 4, 0, "chaotic", 2, 1000, "1MiB", 32, 0),
    (1, 1, 3, "round-robin", 2, 1000, "16KiB", 2, 1),
    (3, 2, 0, "chaotic", 2, 1000, "16KiB", 2, 1),
    # The other schedules, with few and many slices, and with more builders than ranks and fewer.
    (3, 4, 0, "balanced", 1, 1, "16KiB", 8, 0),
    (5, 2, 2, "balanced", 2, 10, "4KiB", 2, 2),
    (2, 3, 1, "balanced", 1, 1000, "64KiB", 8, 1),
    (3, 3, 1, "unshifted", 1, 10, "16KiB", 8, 0),
    (3, 4, 0, "table", 1, 1, "64KiB", 8, 1),
    (5, 3, 2, "table", 2, 10, "4KiB", 2, 0),
    (2, 2, 0, "round-robin --slot 2ms", 1, 10, "16KiB", 8, 0),
]


class Input:
    """URIs of the sources, the epoch in ticks and the definitions to try; remembers the reference's answers."""

    def __init__(self, uris, streams, epoch, definitions):
        self.uris, self.epoch, self.definitions = uris, epoch, definitions
        self.sources = len(streams)
        self.hits = weave(streams)

    @functools.lru_cache
    def events(self, definition):
        return find_events(self.hits, definition, overlap=self.epoch)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    uris = generate(folder, sources=5, rate=20_000, timing="poisson", hits=8, width="50ns", noise=100_000,
                    duration="40ms", payload=2, seed=1)
    streams = [hits_of_file(read_epochs_file(uri.removeprefix("file:"))) for uri in uris]
    return Input(uris, streams, 10_000, ["gap:60,4", "multiplicity:100,5,1,2", "tag"])


@pytest.fixture(scope="module")
def recorded():
    recording = truth.RECORDINGS[1]
    return Input([recording.uri()], recording.streams(), 100_000, ["gap:25,4", "multiplicity:50,4,2,1", "tag"])


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda c: "-".join(map(str, c)).replace(" ", ""))
@pytest.mark.parametrize("name", ["generated", "recorded"])
def test_equals_the_reference(tmp_path, request, name, configuration):
    data = request.getfixturevalue(name)
    ranks, builders, filters, schedule, threads, per_slice, cell, depth, number = configuration
    definition = data.definitions[number]
    if schedule == "table":
        schedule = schedule_table(tmp_path, data.sources, builders)
    run = Run(tmp_path, data.uris, "--define", definition, "--builders", builders, "--filters", filters,
              "--schedule", *schedule.split(), "--epochs-per-slice", per_slice, "--cell-size", cell, "--ring-depth", depth,
              "--epoch", data.epoch, np=ranks, omp=threads)
    events = data.events(definition)
    assert_same(read_merged(run.merged), merged_file(events))
    account = read_ledger(run.output)
    assert_balanced(account)
    assert ledger_rows(account) == ledger(events, per_slice * data.epoch)
    assert_builders(account, schedule, builders)


@pytest.mark.parametrize("name", ["generated", "recorded"])
@pytest.mark.parametrize("filters", [["n_hits>=6"], ["duration<40ns", "n_hits>=5"], ["channel:0x0-0xf>=3"], ["systems>=2"],
                                     ["sources>=2", "n_hits>=8 || !(source:1-3>=2) && duration>10ns"]],
                         ids=" ".join)
def test_filters(tmp_path, request, name, filters):
    data = request.getfixturevalue(name)
    words = [word for expression in filters for word in ("--filter", expression)]
    run = Run(tmp_path, data.uris, "--define", data.definitions[0], *words, "--builders", 2, "--filters", 2,
              "--epoch", data.epoch, "--epochs-per-slice", 10, np=3)
    events = find_events(data.hits, data.definitions[0], data.epoch, filters)
    assert_same(read_merged(run.merged), merged_file(events, with_payload=True))
    account = read_ledger(run.output)
    assert_balanced(account)
    assert ledger_rows(account) == ledger(events, 10 * data.epoch)


def test_prescale(tmp_path, generated):
    """A tenth of the events, complete, and the same ones in every run."""
    options = ["--define", "gap:60,4", "--filter", "prescale=10"]
    found = read_merged(Run(tmp_path / "1", generated.uris, *options).merged)
    assert_same(read_merged(Run(tmp_path / "2", generated.uris, *options, "--filters", 2, "--epochs-per-slice", 7,
                                np=3).merged), found)
    everything = merged_file(generated.events("gap:60,4"))
    kept = set(zip(found["events/time"].tolist(), found["events/n_hits"].tolist()))
    assert kept <= set(zip(everything["events/time"].tolist(), everything["events/n_hits"].tolist()))
    n = len(everything["events/time"])
    assert abs(len(kept) - n / 10) < 5 * (n * 0.1 * 0.9) ** 0.5  # five sigma of a fair choice
