"""The definitions fixed, trigger and cluster, compared with references that look at all hits, or at all pairs of
hits."""

import h5py
import numpy as np
import pytest

from program import Run, eventloom, only_line
from results import assert_balanced, read_ledger

SPAN = 3_000_000  # ns
SLICES = ["--epochs-per-slice", 7]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Three sources of 12 channels with bursts of hits on noise; a map with positions for all channels but one."""
    folder = tmp_path_factory.mktemp("hits")
    choose = np.random.default_rng(17)
    hits = []  # (time, source, place in the stream, channel, energy)
    for source in range(3):
        bursts = choose.integers(1000, SPAN, 300)
        times = np.concatenate([choose.integers(0, SPAN, 4000), *(b + choose.integers(0, 60, 4) for b in bursts)])
        times = np.sort(times)
        channels = choose.integers(0, 12, len(times))
        energies = choose.integers(0, 1000, len(times))
        (folder / f"s{source}.csv").write_text(
            "time_ns,channel,energy\n" + "".join(f"{t},{c},{e}\n" for t, c, e in zip(times, channels, energies)))
        hits += [(int(t), source, i, int(c), int(e)) for i, (t, c, e) in enumerate(zip(times, channels, energies))]
    hits.sort()
    places = {(source, channel): (channel % 4, channel // 4, source * 0.5) for source in range(3) for channel in range(12)}
    del places[1, 5]
    (folder / "map.csv").write_text("source,channel,x_m,y_m,z_m\n" + "".join(
        f"{source},{channel},{x},{y},{z}\n" for (source, channel), (x, y, z) in places.items()))
    uris = [f"csv:{folder}/s{source}.csv?payload=energy" for source in range(3)]
    return uris, hits, places, folder / "map.csv"


def built(run):
    """[(flags, [(time, source, channel, energy)])] of the merged file."""
    with h5py.File(run.merged) as file:
        first = file["events/first_hit"][:]
        columns = [file[name][:].tolist() for name in ("hits/time", "hits/source", "hits/channel", "payload")]
        flags = file["events/flags"][:].tolist()
        assert np.all(np.diff(file["events/time"][:].astype(np.int64)) >= 0)
    hits = list(zip(*columns))
    return [(flags[i], hits[first[i]:first[i + 1]]) for i in range(len(flags))]


def assert_events(run, expected):
    """`expected`: for each event, the numbers of its hits in the recording."""
    found = built(run)
    assert_balanced(read_ledger(run.merged))
    assert [hits for _, hits in found] == expected
    assert all(flags == 0 for flags, _ in found)


def shown(hits, numbers):
    return [(hits[i][0], hits[i][1], hits[i][3], hits[i][4]) for i in numbers]


def bins(hits, length):
    events = {}
    for i, hit in enumerate(hits):
        events.setdefault(hit[0] // length, []).append(i)
    return [events[number] for number in sorted(events)]


def windows(hits, holds, pre, post):
    """Hits in windows around those for which `holds`; windows that share a tick are joined."""
    joined = []
    for hit in hits:
        if not holds(hit):
            continue
        low, high = max(hit[0] - pre, 0), hit[0] + post
        if joined and low <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], high)
        else:
            joined.append([low, high])
    times = np.array([hit[0] for hit in hits])
    return [list(range(np.searchsorted(times, low), np.searchsorted(times, high, side="right"))) for low, high in joined]


def clusters(hits, places, time, radius, least):
    """Connected sets by comparison of all pairs of hits that are close in time."""
    parents = list(range(len(hits)))

    def root(i):
        while parents[i] != i:
            i = parents[i]
        return i

    at = [places.get((hit[1], hit[3])) for hit in hits]
    for i, hit in enumerate(hits):
        for j in range(i - 1, -1, -1):
            if hit[0] - hits[j][0] > time:
                break
            if at[i] is None or at[j] is None:
                continue
            if sum((a - b) ** 2 for a, b in zip(at[i], at[j])) <= radius ** 2:
                low, high = sorted((root(i), root(j)))
                parents[high] = low
    sets = {}
    for i in range(len(hits)):
        sets.setdefault(root(i), []).append(i)
    return [sets[first] for first in sorted(sets) if len(sets[first]) >= least]


@pytest.mark.parametrize("ranks, options", [(None, []), (3, SLICES), (4, ["--builders", 2, "--filters", 1])])
def test_fixed(tmp_path, recording, ranks, options):
    uris, hits, _, _ = recording
    run = Run(tmp_path, uris, "--define", "fixed:7001ns", *options, np=ranks)
    assert_events(run, [shown(hits, event) for event in bins(hits, 7001)])


@pytest.mark.parametrize("condition, holds", [
    ("A{900..950}>=1", lambda hit: hit[3] < 3 and 900 <= hit[4] <= 950),
    ("source:1>=1 && channel:5>=1 || channel:7>=1 && sum(A)==0", lambda hit: (hit[1] == 1 and hit[3] == 5) or hit[3] == 7),
    ("n_hits==1 && max(B)>=980", lambda hit: hit[3] == 11 and hit[4] >= 980),
    ("A>=2", lambda hit: False),
])
@pytest.mark.parametrize("pre, post", [(0, 0), (120, 50)])
@pytest.mark.parametrize("ranks, options", [(None, []), (3, SLICES)])
def test_trigger(tmp_path, recording, condition, holds, pre, post, ranks, options):
    uris, hits, _, _ = recording
    run = Run(tmp_path, uris, "--define", f"trigger:{condition},{pre}ns,{post}ns", "--group", "A=channel:0-2", "--group",
              "B=channel:11", *options, np=ranks)
    assert_events(run, [shown(hits, event) for event in windows(hits, holds, pre, post)])


@pytest.mark.parametrize("definition, time, radius, least", [
    ("cluster:40ns,1,2", 40, 1, 2), ("cluster:100ns,150cm,3", 100, 1.5, 3), ("cluster:25ns,0", 25, 0, 1)])
@pytest.mark.parametrize("ranks, options", [(None, []), (4, SLICES)])
def test_cluster(tmp_path, recording, definition, time, radius, least, ranks, options):
    uris, hits, places, path = recording
    run = Run(tmp_path, uris, "--define", definition, "--detector", path, "--overlap", "20us", *options, np=ranks)
    assert_events(run, [shown(hits, event) for event in clusters(hits, places, time, radius, least)])


def test_long_clusters_are_cut_alike_in_all_slices(tmp_path, recording):
    """The overlap is shorter than most clusters: the result does not depend on slices and ranks, and the exit code
    reports it."""
    uris, hits, _, path = recording
    words = ["--define", "cluster:2000ns,2", "--detector", path, "--overlap", "5us"]
    alone = Run(tmp_path / "a", uris, *words, code=3)
    sliced = Run(tmp_path / "b", uris, *words, *SLICES, np=4, code=3)
    events = built(alone)
    assert events == built(sliced)
    assert_balanced(read_ledger(sliced.merged))
    assert all(event[-1][0] - event[0][0] <= 5000 for _, event in events)
    assert sum(flags for flags, _ in events) >= 5


def gaps(hits, numbers, gap, least):
    """Groups of hits of one source."""
    runs = []
    for i in numbers:
        if runs and hits[i][0] - hits[runs[-1][-1]][0] <= gap:
            runs[-1].append(i)
        else:
            runs.append([i])
    return [run for run in runs if len(run) >= least]


@pytest.mark.parametrize("ranks, options", [(None, []), (4, SLICES)])
def test_per_source(tmp_path, recording, ranks, options):
    uris, hits, places, path = recording
    numbers = [[i for i, hit in enumerate(hits) if hit[1] == source] for source in range(3)]
    run = Run(tmp_path / "gap", uris, "--define", "gap:40ns,3", "--per-source", *options, np=ranks)
    expected = sorted(event for mine in numbers for event in gaps(hits, mine, 40, 3))
    assert len(expected) > 500
    assert_events(run, [shown(hits, event) for event in expected])
    run = Run(tmp_path / "bins", uris, "--define", "fixed:500ns", "--per-source", *options, np=ranks)
    expected = sorted([mine[i] for i in event] for mine in numbers for event in bins([hits[i] for i in mine], 500))
    assert_events(run, [shown(hits, event) for event in expected])
    run = Run(tmp_path / "sets", uris, "--define", "cluster:60ns,2,2", "--detector", path, "--per-source", *options, np=ranks)
    expected = sorted([mine[i] for i in event] for mine in numbers
                      for event in clusters([hits[i] for i in mine], places, 60, 2, 2))
    assert_events(run, [shown(hits, event) for event in expected])


def test_per_source_is_not_for_event_numbers(tmp_path, recording):
    done = eventloom("run", recording[0][0], "--define", "tag", "--per-source", "--output", tmp_path / "run.h5", code=2)
    assert "--per-source: events by number" in only_line(done, "--per-source")


def test_events_of_one_time(tmp_path, recording):
    """Events that begin at the same tick are merged, compared, shown, resumed and read like others."""
    uris = recording[0]
    words = ["--define", "fixed:500ns", "--per-source", *SLICES]
    one, two = (Run(tmp_path / name, uris, *words, np=np) for name, np in (("a", 1), ("b", 3)))
    assert built(one) == built(two)
    eventloom("compare", one.output, two.output)
    eventloom("compare", one.merged, two.merged)
    eventloom("inspect", one.output)
    eventloom("show", one.output, "--event", 3)
    eventloom("report", one.output, "--output", tmp_path / "report.html")


@pytest.mark.parametrize("definition, words", [("cluster:60ns,2,2", []), ("fixed:500ns", ["--per-source"]),
                                               ("trigger:channel:7>=1,100ns,300ns", [])])
def test_interrupted_and_resumed(tmp_path, recording, definition, words):
    """A run that is stopped and resumed on other ranks has the events of an undisturbed one."""
    uris, _, _, path = recording
    words = ["--define", definition, "--detector", path, "--overlap", "20us", "--epochs-per-slice", 3, *words]
    whole = Run(tmp_path / "whole", uris, *words)
    options = ["run", *[word for uri in uris for word in ("--source", uri)], *words, "--segment-size", "20KiB", "--output",
               tmp_path / "run.h5"]
    eventloom(*options, "--speed", 0.005, "--duration", "300ms", np=2, code=75)
    eventloom(*options, "--resume", np=3)
    eventloom("merge", tmp_path / "run.h5", "--output", tmp_path / "merged.h5")
    whole_events = built(whole)
    whole.merged = tmp_path / "merged.h5"
    assert built(whole) == whole_events


def pixel(chip, x, y, toa):
    """A pixel packet of Timepix3; `toa` in 25 ns."""
    pixel_of_column = (y // 4) << 3 | (y % 4) | (x % 2) << 2
    double_column = x // 2
    word = 0xB << 60 | double_column << 53 | pixel_of_column << 44 | (toa & 0x3FFF) << 30 | 5 << 20 | (toa >> 14)
    return chip, word


def test_pixels(tmp_path):
    """Without positions, pixels of a camera are near each other if they are on one chip."""
    choose = np.random.default_rng(23)
    packets, hits = [], []
    for toa in np.sort(choose.integers(100, 200_000, 3000)).tolist():
        chip, x, y = int(choose.integers(0, 2)), int(choose.integers(0, 20)), int(choose.integers(0, 20))
        packets.append(pixel(chip, x, y, toa))
        hits.append((toa * 25, 0, len(hits), chip << 16 | y << 8 | x, 5))
    (tmp_path / "a.tpx3").write_bytes(b"".join(
        (0x33585054 | chip << 32 | 8 << 48).to_bytes(8, "little") + word.to_bytes(8, "little") for chip, word in packets))
    run = Run(tmp_path / "run", [f"tpx3:{tmp_path}/a.tpx3"], "--define", "cluster:2us,1.5,2", "--epochs-per-slice", 30,
              "--overlap", "200us", np=2)
    places = {(0, hit[3]): (hit[3] & 255, hit[3] >> 8 & 255, 1000 * (hit[3] >> 16)) for hit in hits}
    found = built(run)
    expected = clusters(hits, places, 2000, 1.5, 2)
    assert [[(t, s, c) for t, s, c, _ in event] for _, event in found] == [
        [(hits[i][0], hits[i][1], hits[i][3]) for i in event] for event in expected]
    assert len(expected) > 30


def test_a_length_is_none_of_pixels(tmp_path):
    """A plain distance is one of pixels where the map has no positions; with a unit it would be a fraction of a pixel."""
    header = 0x33585054 | 8 << 48
    words = [word for x in (3, 4) for word in (header, pixel(0, x, 7, 1000)[1])]
    (tmp_path / "a.tpx3").write_bytes(b"".join(word.to_bytes(8, "little") for word in words))
    command = ["run", f"tpx3:{tmp_path}/a.tpx3", "--output", tmp_path / "run.h5"]
    for length in ("1.5mm", "150cm", "2m"):
        done = eventloom(*command, "--define", f"cluster:200ns,{length},2", code=2)
        assert f"'{length}' is a length" in done.stderr and "plain number of pixels" in done.stderr
        assert "^" * len(length) in done.stderr
    assert not (tmp_path / "run.h5").exists()
    (tmp_path / "map.csv").write_text("channel,x_m\n0-0xffff,0.5\n")
    for options in (["cluster:200ns,1.5,2"], ["cluster:200ns,1.5mm,2", "--detector", tmp_path / "map.csv"]):
        assert eventloom(*command, "--force", "--define", *options).stdout.startswith("1 events with 2 hits")


@pytest.mark.parametrize("ranks, options", [(None, []), (4, [*SLICES, "--builders", 2])])
def test_hits_without_a_position_are_counted_and_named(tmp_path, recording, ranks, options):
    """They are events of their own, or none with a larger M; a map without positions for them is probably incomplete."""
    uris, hits, places, path = recording
    n = sum((hit[1], hit[3]) not in places for hit in hits)
    assert n > 300
    run = Run(tmp_path, uris, "--define", "cluster:40ns,1,2", "--detector", path, *options, np=ranks)
    said = f"cluster: {n} hits have no position in --detector, and thus no neighbours: {n} of source 1 ("
    assert said in run.done.stderr and "s1.csv), channel 5" in run.done.stderr.splitlines()[-1]
    assert run.report()["hits_without_position"] == [{"source": 1, "hits": n, "lowest_channel": 5, "highest_channel": 5}]
    gap = Run(tmp_path / "gap", uris, "--define", "gap:40ns,2", "--detector", path)
    assert "position" not in gap.done.stderr and "hits_without_position" not in gap.report()


@pytest.mark.parametrize("definition, words", [
    ("fixed:0", "L is 0"), ("cluster:5ns,1,0", "M is 0"), ("fixed:", "fixed"), ("trigger:A>=1,5ns", "a value is missing"), ("trigger:n_hits>=1", "missing"),
    ("cluster:5ns", "missing"), ("cluster:5ns,2parsec", "distance"), ("cluster:5ns,-1", "distance"),
    ("cluster:5ns,1", "positions of channels")])
def test_mistakes(tmp_path, recording, definition, words):
    done = eventloom("run", recording[0][0], "--define", definition, "--group", "A=channel:0-2", "--output",
                     tmp_path / "run.h5", code=2)
    assert words in done.stderr and "eventloom run: " in done.stderr
    assert not (tmp_path / "run.h5").exists()
