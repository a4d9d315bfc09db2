"""The options that may not change the result, and those of events, reach the engine: what a real run under MPI writes to files
equals the serial reference. All combinations are played in tests/engine."""

import functools

import pytest

import truth
from epochs_file import hits_of_file, read_epochs_file
from program import Run, generate, schedule_table
from reference import find_events, ledger, merged_file, weave
from results import assert_balanced, assert_builders, assert_same, ledger_rows, read_ledger, read_merged


class Input:
    """URIs of the sources, the epoch in ticks and the filters; remembers the reference's answers."""

    def __init__(self, uris, streams, epoch, definition, filters):
        self.uris, self.epoch, self.definition, self.filters = uris, epoch, definition, filters
        self.sources = len(streams)
        self.hits = weave(streams)

    @functools.lru_cache
    def events(self):
        return find_events(self.hits, self.definition, self.epoch, self.filters)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    uris = generate(folder, sources=5, rate=20_000, timing="poisson", hits=8, width="50ns", noise=100_000,
                    duration="20ms", payload=2, seed=1)
    streams = [hits_of_file(read_epochs_file(uri.removeprefix("file:"))) for uri in uris]
    return Input(uris, streams, 10_000, "multiplicity:100,5,1,2",
                 ["sources>=2", "n_hits>=8 || !(source:1-3>=2) && duration>10ns"])


@pytest.fixture(scope="module")
def recorded():
    recording = truth.RECORDINGS[1]
    return Input([recording.uri()], recording.streams(), 100_000, "gap:25,4", ["duration<40ns", "n_hits>=5"])


# A table with builders that run on ranks of their own, and slots with threads.
@pytest.mark.every_case
@pytest.mark.parametrize("name, np, omp, per_slice, options", [
    ("generated", 3, 2, 10, dict(builders=3, filters=2, schedule="table", cell_size=4096, ring_depth=2, slices_in_flight=3)),
    ("recorded", 2, 1, 7, dict(builders=2, filters=0, schedule="chaotic", cell_size=16384, ring_depth=32, slices_in_flight=5))])
def test_equals_the_reference(tmp_path, request, name, np, omp, per_slice, options):
    data = request.getfixturevalue(name)
    if options["schedule"] == "table":
        options = options | {"schedule": schedule_table(tmp_path, data.sources, options["builders"])}
    words = [str(word) for option, value in options.items() for word in ("--" + option.replace("_", "-"), value)]
    filters = [word for expression in data.filters for word in ("--filter", expression)]
    run = Run(tmp_path, data.uris, "--define", data.definition, *filters, *words, "--epochs-per-slice", per_slice,
              "--epoch", data.epoch, np=np, omp=omp)
    events = data.events()
    assert events.rejected.any() and not events.rejected.all()
    assert_same(read_merged(run.merged), merged_file(events, with_payload=True))
    account = read_ledger(run.output)
    assert_balanced(account)
    assert ledger_rows(account) == ledger(events, per_slice * data.epoch)
    assert_builders(account, options["schedule"], options["builders"])
    in_force = run.report()["in_force"]
    assert f"slices of {per_slice} epochs" in in_force
    assert f"rings of {options['ring_depth']} cells of {options['cell_size'] // 1024} KiB" in in_force
