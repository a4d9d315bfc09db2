"""align: finds offsets that were added to generated hits again, for channels, sources and groups; drifts; and names
what cannot be aligned."""

import csv

import h5py
import numpy as np
import pytest

from program import Run, eventloom, only_line

LENGTH = 3e9  # ns
JITTER = 5


def shower(seed, channels, events=1500, noise=1000, jitter=JITTER, spread=500, drift=0.0):
    """(times in ns, channels, offsets): flashes that each channel sees with probability 1/2, and noise between them."""
    choose = np.random.default_rng(seed)
    offsets = choose.uniform(-spread, spread, channels)
    offsets[0] = 0
    flashes = choose.uniform(1e4, LENGTH - 1e4, events)
    times, numbers = [], []
    for channel in range(channels):
        seen = flashes[choose.random(events) < 0.5]
        mine = seen + choose.normal(0, jitter, len(seen)) + offsets[channel] + channel * drift * seen / 1e9
        mine = np.concatenate([mine, choose.uniform(1e4, LENGTH - 1e4, noise)])
        times.append(mine)
        numbers.append(np.full(len(mine), channel))
    times, numbers = np.concatenate(times), np.concatenate(numbers)
    order = np.argsort(times, kind="stable")
    return np.rint(times[order]).astype(np.int64), numbers[order], offsets


def write_csv(path, times, channels):
    path.write_text("time_ns,channel\n" + "".join(f"{t},{c}\n" for t, c in zip(times, channels)))
    return path


def events_of(run):
    with h5py.File(run.merged) as file:
        return len(file["events/time"])


def rows_of(path):
    """The rows added by align: those with an error."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return [row for row in csv.DictReader(lines) if row["offset_error_ns"]]


def assert_cancels(rows, key, offsets, most):
    """The corrections cancel the offsets, up to a constant, within `most` ns and within the stated errors."""
    assert len(rows) == len(offsets)
    left = {row[key]: float(row["offset_ns"]) + offsets[int(row[key])] for row in rows}
    of_first = left["0"]
    pulls = []
    for row in rows:
        off = left[row[key]] - of_first
        assert abs(off) < most, f"{row}: {off} ns off"
        if float(row["offset_error_ns"]) > 0:
            pulls.append(off / float(row["offset_error_ns"]))
    assert np.sqrt(np.mean(np.square(pulls))) < 2, "the errors are too small"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_thirty_channels(tmp_path, seed):
    times, channels, offsets = shower(seed, 30, events=3000, noise=2000)
    eventloom("align", write_csv(tmp_path / "a.csv", times, channels), "-o", tmp_path / "new.csv")
    rows = rows_of(tmp_path / "new.csv")
    assert_cancels(rows, "channel", offsets, 0.5)
    assert all(float(row["offset_error_ns"]) < 0.5 for row in rows)


def test_a_run_with_the_new_map_finds_the_events(tmp_path):
    times, channels, _ = shower(4, 12)
    hits = write_csv(tmp_path / "a.csv", times, channels)
    eventloom("align", hits, "-o", tmp_path / "new.csv")
    before = Run(tmp_path / "before", [hits], "--define", "gap:25ns,5")
    after = Run(tmp_path / "after", [hits], "--define", "gap:25ns,5", "--detector", tmp_path / "new.csv")
    assert events_of(before) < 100
    assert events_of(after) > 800, "flashes of 12 channels, each seen with probability 1/2"


def test_sources_keep_the_offsets_of_their_map(tmp_path):
    """With an earlier map, its rows are kept, and the new offsets include its offsets."""
    times, channels, offsets = shower(5, 4)
    for source in range(4):
        mine = channels == source
        write_csv(tmp_path / f"s{source}.csv", times[mine], np.arange(mine.sum()) % 2)
    old = tmp_path / "old.csv"
    old.write_text("# by hand\nsource,channel,name,offset_ns\n2,1,\"far, up\",300\n1,,,-40\n")
    eventloom("align", tmp_path / "s*.csv", "--by", "source", "--detector", old, "--reference", "0", "-o",
              tmp_path / "new.csv", code=None)
    text = (tmp_path / "new.csv").read_text()
    assert "# by hand" in text and '2,1,"far, up",300' in text
    old.write_text("source,offset_ns\n2,300\n1,-40\n")
    eventloom("align", tmp_path / "s*.csv", "--by", "source", "--detector", old, "-o", tmp_path / "good.csv")
    rows = rows_of(tmp_path / "good.csv")
    for row in rows:
        row["number"] = row["source"][-len("0.csv")]
    assert_cancels(rows, "number", offsets, 0.8)


def test_groups(tmp_path):
    times, channels, offsets = shower(6, 3)
    hits = write_csv(tmp_path / "a.csv", times, channels * 10 + np.arange(len(times)) % 3)
    groups = [f"--group={name}=channel:{low}-{low + 2}" for name, low in zip("ABC", (0, 10, 20))]
    eventloom("align", hits, "--by", "group", *groups, "-o", tmp_path / "new.csv")
    rows = rows_of(tmp_path / "new.csv")
    assert [row["channel"] for row in rows] == ["0-2", "10-12", "20-22"]
    for number, row in enumerate(rows):
        row["number"] = str(number)
    assert_cancels(rows, "number", offsets, 0.8)


def test_drifts(tmp_path):
    """Channel c drifts by -2 c ns per second."""
    times, channels, _ = shower(7, 4, events=4000, spread=0, drift=-2.0)
    eventloom("align", write_csv(tmp_path / "a.csv", times, channels), "-o", tmp_path / "n.csv")
    for row in rows_of(tmp_path / "n.csv")[1:]:
        found, error = float(row["drift_ns_per_s"]), float(row["drift_error_ns_per_s"])
        assert abs(found - 2 * int(row["channel"])) < max(5 * error, 0.2), row
        assert 0 < error < 0.5


@pytest.mark.parametrize("reference", ["7", "*/7", "0-3/7", "hits of run 7.csv/7"])
def test_reference_by_name(tmp_path, reference):
    """Sources by number, name and glob, as in a map; `/` separates the channel."""
    times, channels, offsets = shower(14, 9, spread=100)
    hits = write_csv(tmp_path / "hits of run 7.csv", times, channels)
    reference = {"7": "0/7"}.get(reference, reference)
    eventloom("align", hits, "-o", tmp_path / "new.csv", "--reference", reference)
    of_channel = {int(row["channel"]): float(row["offset_ns"]) for row in rows_of(tmp_path / "new.csv")}
    assert of_channel[7] == 0
    assert abs(of_channel[0] - offsets[7]) < 1


def test_reference_of_a_source(tmp_path):
    """A source given alone stands for its first channel with hits."""
    times, channels, _ = shower(14, 4)
    eventloom("align", write_csv(tmp_path / "a.csv", times, channels), "-o", tmp_path / "new.csv", "--reference", "0")
    assert [row["offset_ns"] for row in rows_of(tmp_path / "new.csv")][0] == "0"


def test_cuts_on_signed_payload(tmp_path):
    """A channel with negative payloads only has no hits left after a cut at 0."""
    times, channels, offsets = shower(15, 4)
    energy = np.where(channels == 2, -5, 5)
    (tmp_path / "a.csv").write_text(
        "time_ns,channel,energy\n" + "".join(f"{t},{c},{e}\n" for t, c, e in zip(times, channels, energy)))
    (tmp_path / "cut.csv").write_text("source,channel,min_payload\n,,0\n")
    uri = f"csv:{tmp_path / 'a.csv'}?payload=energy"
    eventloom("align", uri, "--detector", tmp_path / "cut.csv", "-o", tmp_path / "new.csv")
    assert [row["channel"] for row in rows_of(tmp_path / "new.csv")] == ["0", "1", "3"]


def test_names_that_break_lines(tmp_path):
    times, channels, offsets = shower(16, 3)
    hits = write_csv(tmp_path / "a\nsource,channel\x1b[31m.csv", times, channels)
    done = eventloom("align", hits, "-o", tmp_path / "new.csv")
    assert "\x1b" not in done.stdout
    assert_cancels(rows_of(tmp_path / "new.csv"), "channel", offsets, 1)


def test_without_coincidences(tmp_path):
    choose = np.random.default_rng(8)
    times = np.sort(choose.integers(0, int(LENGTH), 20_000))
    hits = write_csv(tmp_path / "a.csv", times, choose.integers(0, 5, 20_000))
    done = eventloom("align", hits, "-o", tmp_path / "new.csv", code=2)
    assert "too few coincident hits" in done.stderr
    assert not (tmp_path / "new.csv").exists()


def test_a_channel_apart(tmp_path):
    """A channel that sees only noise keeps its offset, which the exit code reports."""
    times, channels, offsets = shower(9, 5)
    choose = np.random.default_rng(10)
    noise = choose.integers(0, int(LENGTH), 500)
    times, channels = np.concatenate([times, noise]), np.concatenate([channels, np.full(500, 77)])
    order = np.argsort(times, kind="stable")
    done = eventloom("align", write_csv(tmp_path / "a.csv", times[order], channels[order]), "-o", tmp_path / "new.csv", code=3)
    assert "77: too few coincidences" in done.stderr
    assert_cancels(rows_of(tmp_path / "new.csv"), "channel", offsets, 0.8)


@pytest.mark.parametrize("arguments, words", [
    ([], "--output"),
    (["-o", "{hits}"], "a.csv"),
    (["-o", "new.csv", "--by", "colour"], "source, channel or group"),
    (["-o", "new.csv", "--window", "0ns"], "--window"),
    (["-o", "new.csv", "--reference", "99"], "--reference '99'"),
    (["-o", "new.csv", "--detector", "none.csv"], "none.csv"),
])
def test_mistakes(tmp_path, arguments, words):
    times, channels, _ = shower(11, 3, events=200, noise=10)
    hits = write_csv(tmp_path / "a.csv", times, channels)
    content = hits.read_bytes()
    done = eventloom("align", hits, *(word.format(hits=hits) for word in arguments), cwd=tmp_path, code=2)
    only_line(done, words)
    assert hits.read_bytes() == content


def test_a_map_of_someone_else_stays(tmp_path):
    times, channels, _ = shower(12, 3)
    hits = write_csv(tmp_path / "a.csv", times, channels)
    theirs = tmp_path / "map.csv"
    theirs.write_text("source,channel,offset_ns\n,1,5\n")
    eventloom("align", hits, "--detector", theirs, "-o", theirs, "--force", code=2)
    assert theirs.read_text() == "source,channel,offset_ns\n,1,5\n"
    eventloom("align", hits, "-o", theirs, "--force", code=2)
    assert theirs.read_text() == "source,channel,offset_ns\n,1,5\n"
    eventloom("align", hits, "-o", tmp_path / "new.csv")
    eventloom("align", hits, "-o", tmp_path / "new.csv", code=2)
    eventloom("align", hits, "-o", tmp_path / "new.csv", "--force")
