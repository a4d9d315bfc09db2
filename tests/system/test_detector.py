"""Detector maps: the result equals that of the corrected stream, written from the design contract alone, however the
run is done."""

import csv
import json
import os
import random
import signal

import h5py
import numpy as np
import pytest

import caen
import truth
from detector_reference import correct, write_map
from epochs_file import hits_of_file, read_epochs_file
from interrupted import STOPPED, Started
from program import Run, eventloom, generate, only_line
from reference import find_events, ledger, merged_file, weave
from results import assert_balanced, assert_same, ledger_rows, read_ledger, read_merged

CASES = int(os.environ.get("EVENTLOOM_CASES", 12))
SCHEDULES = ["round-robin", "chaotic", "balanced", "unshifted"]


class Input:
    def __init__(self, uris):
        self.uris = uris
        self.names = [uri.removeprefix("file:") for uri in uris]
        self.streams = [hits_of_file(read_epochs_file(name)) for name in self.names]
        self.channels = sorted({int(c) for stream in self.streams for c in stream.channel})


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    return Input(generate(folder, sources=5, rate=20_000, timing="poisson", hits=8, width="50ns", noise=100_000,
                          duration="20ms", payload=2, seed=7))


def random_map(data, draw):
    """Offsets from ticks to several slices in one unit, masks, cuts and groups; many cells are empty."""
    unit = draw.choice(["offset_ns", "offset_ps", "offset_us", "offset_ticks"])
    per_tick = {"offset_ns": 1, "offset_ps": 1000, "offset_us": 0.001, "offset_ticks": 1}[unit]
    reach = draw.choice([0, 3, 300, 30_000, 3_000_000])
    words = np.concatenate([stream.payload for stream in data.streams])

    def offset():
        ticks = draw.randint(-reach, reach)
        return str(ticks) if unit == "offset_ticks" else f"{ticks * per_tick + draw.choice([0, 0, per_tick / 2]):.6f}"

    def row():
        low, high = sorted(draw.sample(data.channels, 2))
        cells = {
            "source": draw.choice(["", str(draw.randrange(5)), data.names[draw.randrange(5)], f"*_00{draw.randrange(5)}.*"]),
            "channel": draw.choice(["", str(low), f"{low}-{high}", f"{low:#x}-{high:#x}"]),
            unit: offset(),
            "mask": draw.choice(["0", "1"]),
            "min_payload": str(int(np.quantile(words, draw.uniform(0, 0.2)))),
            "max_payload": hex(int(np.quantile(words, draw.uniform(0.8, 1)))),
            "group": draw.choice(["A", "B;A", "top"]),
            "name": "a name, with a comma",
            "z_m": "-3.5",
        }
        return {name: cell if name in ("source", "channel") or draw.random() < 0.4 else "" for name, cell in cells.items()}

    return [row() for _ in range(draw.choice([1, 3, 30]))]


def assert_equals_the_reference(run, corrected, definition, slice_ticks, overlap=10_000):
    events = find_events(corrected.hits, definition, overlap)
    assert_same(read_merged(run.merged), merged_file(events, with_payload=True))
    account = read_ledger(run.output)
    assert_balanced(account)
    expected = {number: [0, 0, 0, 0] for cause in ("masked", "cut", "untimed")
                for number in corrected.lost_by_slice(cause, slice_ticks)}
    expected |= {number: list(row) for number, row in ledger(events, slice_ticks).items()}
    for cause in ("masked", "cut", "untimed"):
        lost = corrected.lost_by_slice(cause, slice_ticks)
        rows = dict(zip(account["slice"].tolist(), account[f"hits_dropped_{cause}"].tolist()))
        assert {number: n for number, n in rows.items() if n} == lost
        for number, n in lost.items():
            expected[number][0] += n
    assert ledger_rows(account) == {number: tuple(row) for number, row in expected.items()}
    counts = {entry["source"]: entry["counts"] for entry in run.report()["per_source"]}
    for cause in ("masked", "cut", "untimed"):
        found = {source: c[f"hits_dropped_{cause}"] for source, c in counts.items() if c.get(f"hits_dropped_{cause}")}
        assert found == corrected.lost_by_source(cause)


@pytest.mark.parametrize("case", range(CASES))
def test_random_maps_equal_the_reference(tmp_path, generated, case):
    draw = random.Random(1000 + case)
    rows = random_map(generated, draw)
    corrected = correct(generated.streams, generated.names, rows)
    definition = draw.choice(["gap:60,4", "multiplicity:100,5,1,2", "tag"])
    per_slice = draw.choice([1, 7, 100])
    run = Run(tmp_path, generated.uris, "--define", definition, "--detector", write_map(tmp_path / "map.csv", rows),
              "--epochs-per-slice", per_slice, "--schedule", draw.choice(SCHEDULES), "--builders", draw.randint(1, 4),
              "--filters", draw.randint(0, 2), "--overlap", 10_000, np=draw.randint(1, 3), omp=draw.randint(1, 2),
              code=3 if corrected.lost("untimed") or find_events(corrected.hits, definition, 10_000).truncated.any() else 0)
    assert_equals_the_reference(run, corrected, definition, per_slice * 10_000)


DEFINITION = "gap:60,4"


@pytest.fixture(scope="module")
def moved(generated, tmp_path_factory):
    """A map that moves sources by several slices and channels within them, with masks and cuts; the reference's
    result."""
    rows = [{"source": "1", "offset_ns": "35000.4"}, {"source": "3", "offset_ns": "-150"},
            {"channel": f"{generated.channels[0]}-{generated.channels[3]}", "offset_ns": "21", "mask": "0"},
            {"source": "2", "channel": str(generated.channels[5]), "mask": "1"},
            {"source": "4", "max_payload": hex(int(np.median(generated.streams[4].payload)))}]
    path = write_map(tmp_path_factory.mktemp("map") / "map.csv", rows)
    return path, correct(generated.streams, generated.names, rows)


def test_a_stopped_run_continues_with_its_map_only(tmp_path, generated, moved):
    path, corrected = moved
    words = [word for uri in generated.uris for word in ("--source", uri)]
    options = ["run", *words, "--define", DEFINITION, "--overlap", 10_000, "--epochs-per-slice", 3, "--segment-size",
               "20KiB", "--output", tmp_path / "run.h5"]
    stopped = eventloom(*options, "--detector", path, "--speed", 0.02, "--duration", "300ms", np=2, code=75)
    assert "--resume continues the run" in stopped.stdout
    other = tmp_path / "other.csv"
    other.write_text(path.read_text().replace("-150", "-151"))
    only_line(eventloom(*options, "--detector", other, "--resume", code=2), "cannot be resumed", "--detector")
    only_line(eventloom(*options, "--resume", code=2), "cannot be resumed", "--detector")
    eventloom(*options, "--detector", path, "--resume", np=3)
    eventloom("merge", tmp_path / "run.h5", "--output", tmp_path / "merged.h5")
    assert_same(read_merged(tmp_path / "merged.h5"), merged_file(find_events(corrected.hits, DEFINITION, 10_000), True))


def test_saved_hits_are_corrected_once(tmp_path, generated, moved):
    path, corrected = moved
    sorted_uri = f"sorted:{tmp_path}/sorted"
    expected = merged_file(find_events(corrected.hits, DEFINITION, 10_000), True)
    Run(tmp_path / "1", generated.uris, "--define", DEFINITION, "--overlap", 10_000, "--detector", path, "--save-sorted",
        tmp_path / "sorted", "--group", "late=source:1", "--builders", 2, np=2)
    for name, options in {"2": [], "3": ["--detector", path], "4": ["--filter", "late>=0"], "5": ["--epochs-per-slice", 3]}.items():
        again = Run(tmp_path / name, [sorted_uri], "--define", DEFINITION, "--overlap", 10_000, *options, np=2)
        assert_same(read_merged(again.merged), expected)
        with h5py.File(again.merged) as file:
            assert file["detector/map"][0] == path.read_bytes()
            assert set(file["detector/offset_ticks"][:]) >= {35000, -150}
    once_more = tmp_path / "more.csv"
    once_more.write_text("source,offset_ns\n1,5\n")
    only_line(eventloom("run", "--source", sorted_uri, "--define", DEFINITION, "--detector", once_more, "--output",
                        tmp_path / "no.h5", code=2), "more.csv", "were corrected")


def test_hits_saved_without_a_map_are_corrected_when_read(tmp_path, generated, moved):
    path, corrected = moved
    Run(tmp_path / "1", generated.uris, "--define", DEFINITION, "--overlap", 10_000, "--save-sorted", tmp_path / "sorted",
        "--epochs-per-slice", 2, "--builders", 3, np=3)
    run = Run(tmp_path / "2", [f"sorted:{tmp_path}/sorted"], "--define", DEFINITION, "--overlap", 10_000,
              "--epochs-per-slice", 7, "--detector", path, np=2)
    assert_equals_the_reference(run, corrected, DEFINITION, 70_000)


@pytest.mark.parametrize("recording", truth.RECORDINGS, ids=lambda r: r.name)
def test_offsets_that_are_added_and_taken_back(tmp_path, recording):
    """Each channel of a recording is moved by up to 40 us, and the map moves it back: the events are the original
    ones."""
    draw = random.Random(3)
    definition = f"gap:{recording.rules[0][0]},{recording.rules[0][1]}"
    rows, uris, streams = [], [], recording.streams()
    for number, stream in enumerate(streams):
        offsets = {int(c): draw.randrange(0, 40_000) for c in np.unique(stream.channel)}
        rows += [{"source": str(number), "channel": str(c), "offset_ns": str(-o)} for c, o in offsets.items()]
        time = stream.time + np.array([offsets[int(c)] for c in stream.channel], dtype=np.uint64)
        order = np.argsort(time, kind="stable")
        moved = stream.take(order)
        path = tmp_path / f"{number:03}.csv"
        words = moved.payload if len(moved.payload) else None
        columns = [time[order], moved.channel] + ([words] if words is not None else [])
        np.savetxt(path, np.stack([np.asarray(c).astype(np.uint64) for c in columns], axis=1), fmt="%d", delimiter=",")
        payload = "&payload=3" if words is not None else ""
        uris.append(f"csv:{path}?time=1&channel=2&unit=ns{payload}")
    run = Run(tmp_path / "run", uris, "--define", definition, "--detector", write_map(tmp_path / "map.csv", rows),
              "--overlap", recording.overlap, *recording.options()[:2], np=2, timeout=300)
    expected = find_events(weave(streams), definition, recording.overlap)
    found = read_merged(run.merged)
    # Hits of one source at one time may be reordered, since their positions in the stream have changed.
    for name in ("events/time", "events/duration", "events/n_hits", "hits/time", "hits/source"):
        assert np.array_equal(found[name], merged_file(expected)[name]), name


def test_output_keeps_the_map(tmp_path, generated):
    text = ("# by hand\n" "source,channel,offset_ns,mask,group,name,x_m,y_m,z_m\r\n" '0,,2.5,,"A;B","Top, left",1,,-3e1\n'
            f"0,{generated.channels[0]},,1,,,,,\n")
    path = tmp_path / "map.csv"
    path.write_text(text)
    run = Run(tmp_path / "run", generated.uris, "--define", DEFINITION, "--detector", path, "--group", "C=channel:0-9")
    for file in (run.output, run.merged):
        with h5py.File(file) as file:
            kept = file["detector"]
            assert kept["map"][0] == text.encode() and kept.attrs["groups"] == ["C=channel:0-9"]
            rows = [i for i, source in enumerate(kept["source"][:]) if source == 0]
            assert all(kept["offset_ticks"][i] == 3 and kept["name"][i] == b"Top, left" for i in rows)
            assert sum(kept["mask"][i] for i in rows) == 1
            assert all((kept["x_m"][i], kept["y_m"][i], kept["z_m"][i]) == (1, 0, -30) for i in rows)
            assert any(kept["group"][i] == b"A;B;C" for i in rows)
    assert "detector = " in eventloom("run", *generated.uris, "--define", DEFINITION, "--detector", path,
                                      "--print-config").stdout


@pytest.mark.parametrize("text, words", [
    ("", ["it is empty"]),
    ("source,ofset_ns\n", ["header (line 1)", "'ofset_ns'", "did you mean 'offset_ns'"]),
    ("source;channel\n0;1\n", ["'source;channel'", "commas"]),
    ("source,source\n", ["two columns 'source'"]),
    ("offset_ns,offset_ps\n", ["two columns with offsets"]),
    ("dead_time_us,channel,dead_time_ns\n", ["two columns with dead times", "'dead_time_us' and 'dead_time_ns'"]),
    ("dead_time_us\n-3\n", ["row 1 (line 2)", "column dead_time_us", "of at least 0"]),
    ("dead_time_ps\n1\n", ["row 1 (line 2)", "column dead_time", "whole number of ticks"]),
    ("source,mask\n0,1\n0\n", ["row 2 (line 3)", "1 fields", "header 2"]),
    ("source,mask\n0,yes\n", ["row 1 (line 2)", "column mask", "'yes'"]),
    ("# note\n\nsource,channel\n0,9-3\n", ["row 1 (line 4)", "column channel", "'9-3'"]),
    ("channel\n0x10000000\n", ["column channel"]),
    ("source,offset_ns\n,1.2.3\n", ["column offset_ns", "'1.2.3'"]),
    ("source,offset_ns\n,1e30\n", ["row 1", "column offset", "2^60"]),
    ("source\nnowhere\n", ["row 1 (line 2)", "column source", "'nowhere'", "none of the 5 sources"]),
    ("source\n5\n", ["'5'", "none of the 5 sources"]),
    ("min_payload\nlow\n", ["column min_payload"]),
    ("min_payload,max_payload\n7,6\n", ["below min_payload"]),
    ("group\nA;;B\n", ["column group"]),
    ("group\nn_hits\n", ["column group", "'n_hits'"]),
    ("x_m\nnan\n", ["column x_m"]),
    ('name\n"open\n', ["line 2"]),
    ("name\n\0\n", ["control character"]),
    ("group\n" + "".join(f"g{i}\n" for i in range(65)), ["row 65", "64 groups"]),
])
def test_mistakes_name_row_and_column(tmp_path, generated, text, words):
    path = tmp_path / "map.csv"
    path.write_bytes(text.encode())
    only_line(eventloom("run", *generated.uris, "--define", DEFINITION, "--detector", path, "--output", tmp_path / "r.h5",
                        code=2), "map.csv", *words)


def test_maps_that_cannot_be_read(tmp_path, generated):
    (tmp_path / "bytes.csv").write_bytes(b"name\n\xff\xfe\n")
    for path, word in ((tmp_path / "none.csv", "No such file"), (tmp_path, "not a regular file"),
                       (tmp_path / "bytes.csv", "UTF-8")):
        only_line(eventloom("run", *generated.uris, "--define", DEFINITION, "--detector", path, "--output",
                            tmp_path / "r.h5", code=2), word)
    for group in ("A", "A=", "A=source:", "duration=source:1", "A=channel:7-3", "1A=source:1"):
        only_line(eventloom("run", *generated.uris, "--define", DEFINITION, "--group", group, "--output",
                            tmp_path / "r.h5", code=2), "--group")
    only_line(eventloom("run", *generated.uris, "--define", DEFINITION, "--group", "A=source:7", "--output",
                        tmp_path / "r.h5", code=2), "--group A=source:7", "none of the 5 sources")


def test_first_map_of_any_input(tmp_path, generated):
    """The map names each channel once with its rate, changes nothing, and is not overwritten."""
    path = tmp_path / "first.csv"
    reported = eventloom("inspect", *generated.uris, "--detector-map", path).stdout
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    found = {(generated.names.index(row["source"]), int(row["channel"])): float(row["rate_hz"]) for row in rows}
    expected = {(s, int(c)): n for s, stream in enumerate(generated.streams)
                for c, n in zip(*np.unique(stream.channel, return_counts=True))}
    assert found.keys() == expected.keys() and f"{len(expected)} channels of 5 sources" in reported
    seconds = {round(expected[key] / rate, 3) for key, rate in found.items()}
    assert len(seconds) == 1 and abs(seconds.pop() - 0.02) < 0.001
    plain = Run(tmp_path / "1", generated.uris, "--define", DEFINITION)
    mapped = Run(tmp_path / "2", generated.uris, "--define", DEFINITION, "--detector", path)
    assert_same(read_merged(mapped.merged), read_merged(plain.merged))
    only_line(eventloom("inspect", *generated.uris, "--detector-map", path, code=2), "first.csv")


def test_first_map_of_a_file_that_is_recognised(tmp_path):
    """The file is recognised by its contents, as with 'inspect'; the file name - means standard output."""
    path = caen.compass_file(tmp_path / "ok.bin", 0xCAE1, [{"board": 2, "channel": 3, "time_ps": 1000 * n} for n in range(5)])
    map_of = ("inspect", path, "--detector-map")
    assert "1 channels of 1 sources" in eventloom(*map_of, tmp_path / "map.csv").stdout
    text = eventloom(*map_of, "-", cwd=tmp_path).stdout
    assert text == (tmp_path / "map.csv").read_text() and text.splitlines()[-1].startswith(f"{path},{2 << 16 | 3},")
    assert not (tmp_path / "-").exists()


def test_first_map_remarks_on_noise(tmp_path):
    path = tmp_path / "hits.csv"
    path.write_text("".join(f"{t},{0 if t % 3 else 1 + t % 8}\n" for t in range(3000)))
    eventloom("inspect", f"csv:{path}?time=1&channel=2&unit=us", "--detector-map", tmp_path / "map.csv")
    noisy = [line for line in (tmp_path / "map.csv").read_text().splitlines() if line.endswith("of its source")]
    assert len(noisy) == 1 and noisy[0].split(",")[1] == "0" and "noisy?" in noisy[0]


# What selects no hit

def hits_table(file, hits):
    file.write_text("".join(f"{time},{channel}\n" for time, channel in hits))
    return f"csv:{file}?time=1&channel=2&unit=ns"


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """Two sources: channels 1 to 20 and 100 of the first, 1 to 10 of the second, each rare and late in the run."""
    folder, rng = tmp_path_factory.mktemp("sparse"), np.random.default_rng(14)
    channels = [[*range(1, 21), 100], [*range(1, 11)]]
    return [hits_table(folder / f"{s}.csv", sorted((int(t), c) for c in own for t in rng.integers(0, 50_000_000, 3)))
            for s, own in enumerate(channels)]


def said_at_the_end(run):
    """The messages on rows and on groups: one line each."""
    return [line for line in run.done.stderr.splitlines()[-5:] if "no hit" in line or "without a hit" in line]


MAP = """source,channel,offset_ns,group
# a remark
0,1-5,3,A
0,21-99,0,dead
1,1-200,,B
1,11,1,B
,30,,C
0,100,-2,D
,7-8,,
"""


@pytest.mark.parametrize("ranks, options", [
    (None, ()), (3, ("--builders", 2, "--filters", 1, "--epochs-per-slice", 20)), (2, ("--schedule", "balanced")),
])
@pytest.mark.parametrize("corrects", [True, False])
def test_rows_without_hits_are_named(tmp_path, sparse, ranks, options, corrects):
    text = MAP if corrects else "\n".join(",".join([*row.split(",")[:2], *row.split(",")[3:]]) if "," in row else row
                                         for row in MAP.splitlines()) + "\n"
    (tmp_path / "map.csv").write_text(text)
    run = Run(tmp_path, sparse, "--define", "gap:50,1", "--detector", tmp_path / "map.csv", "--group", "E=source:1",
              "--group", "F=channel:500-600", *options, np=ranks)
    found = run.report()["detector"]
    assert [row["line"] for row in found["rows_without_hits"]] == [4, 6, 7]
    assert found["groups_without_hits"] == ["dead", "C", "F"] and not found["since_resume"] and found["rows"] == 9
    rows, groups = said_at_the_end(run)
    assert all(part in rows for part in ("3 of 9 rows", "row 2 (line 4)", "source 0, channels 21 to 99", "line 6", "line 7"))
    assert groups.endswith("groups without a hit: dead, C, F")


def test_many_rows_without_hits_are_counted(tmp_path, sparse):
    (tmp_path / "map.csv").write_text("channel,mask,group\n" + "".join(f"{c},{c % 2},g{c % 40}\n" for c in range(1, 2001)))
    run = Run(tmp_path, sparse, "--define", "gap:50,1", "--detector", tmp_path / "map.csv", np=2)
    assert len(run.report()["detector"]["rows_without_hits"]) == 2000 - 21, "masked channels have hits, too"
    rows, groups = said_at_the_end(run)
    assert "1979 of 2000 rows" in rows and "and 1976 more" in rows and len(rows) < 700
    assert "groups without a hit" in groups and "more" in groups and len(groups) < 300


def test_nothing_is_said_where_all_rows_have_hits(tmp_path, sparse):
    (tmp_path / "map.csv").write_text("source,channel,offset_ns,group\n0,1-20,1,A\n,1-10,2,B\n")
    run = Run(tmp_path, sparse, "--define", "gap:50,1", "--detector", tmp_path / "map.csv", np=2)
    assert run.report()["detector"]["rows_without_hits"] == run.report()["detector"]["groups_without_hits"] == []
    assert "without" not in run.done.stderr and "no hit" not in run.done.stderr


def test_saved_hits_say_the_same(tmp_path, sparse):
    (tmp_path / "map.csv").write_text(MAP)
    Run(tmp_path / "first", sparse, "--define", "gap:50,1", "--detector", tmp_path / "map.csv", "--save-sorted",
        tmp_path / "sorted")
    again = Run(tmp_path / "again", [f"sorted:{tmp_path / 'sorted'}"], "--define", "gap:50,1", np=2)
    assert [row["line"] for row in again.report()["detector"]["rows_without_hits"]] == [4, 6, 7]


def test_a_resumed_run_says_what_it_has_seen(tmp_path, sparse):
    (tmp_path / "map.csv").write_text(MAP)
    job = ["run", *sparse, "--define", "gap:50,1", "--epochs-per-slice", 10, "--segment-size", "1", "--detector", "map.csv",
           "--output", "run.h5", "--report-json", "report.json"]
    with Started(tmp_path, *job, "--speed", "0.003") as started:
        started.until_parts(5)
        started.send(signal.SIGUSR1, 0)
        assert "selected no hit" not in started.wait(STOPPED), "it has not ended"
    with Started(tmp_path, *job, "--resume") as started:
        assert "selected no hit since the run was resumed" in started.wait(0)
    assert json.loads((tmp_path / "report.json").read_text())["detector"]["since_resume"]
