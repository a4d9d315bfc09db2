"""report and show: their numbers are those that h5py and numpy find in the files of the run; mistakes; names that would act."""

import re
import shutil
import xml.etree.ElementTree
from decimal import Decimal

import h5py
import numpy as np
import pytest

from interrupted import STOPPED, Started
from page import document_of
from program import DATA, Run, eventloom, generate, only_line
from results import dropped, read_ledger, read_merged
from truth import RECORDINGS

OPTIONS = ["--define", "gap:25ns,4"]
EVIL = "<img src=x onerror=alert(1)>\u2028\x1b[31m\"'&.epochs"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A real one, in two writers' parts."""
    return Run(tmp_path_factory.mktemp("real"), [RECORDINGS[1].uri()], *OPTIONS, "--builders", 2, "--epochs-per-slice", 20, np=2)


@pytest.fixture(scope="module")
def document(recording, tmp_path_factory):
    page = tmp_path_factory.mktemp("page") / "report.html"
    eventloom("report", recording.output, "--output", page)
    return document_of(page)


def columns(path):
    found = read_merged(path)
    return {name: column.astype(np.int64) for name, column in found.items()}


def counts_in(values, edges):
    """As a histogram with half-open bins counts them."""
    places = np.searchsorted(edges, values, side="right") - 1
    return np.bincount(places, minlength=len(edges) - 1).tolist()


def assert_histogram(histogram, values):
    assert histogram["counts"] == counts_in(values, np.array(histogram["edges"]))
    assert sum(histogram["counts"]) == histogram["entries"] == len(values)
    assert histogram["mean"] == pytest.approx(values.mean())
    assert (histogram["least"], histogram["greatest"]) == (values.min(), values.max())


def assert_document(found, merged, ledger, n_sources, slice_ns):
    """What the page shows of a run with a tick of 1 ns."""
    time = merged["events/time"]
    assert_histogram(found["histograms"]["multiplicity"], merged["events/n_hits"])
    assert_histogram(found["histograms"]["duration"], merged["events/duration"])
    assert_histogram(found["histograms"]["interval"], np.diff(time))
    assert_fit(found["histograms"]["interval"], time, ledger, slice_ns)
    hits = np.bincount(merged["hits/source"], minlength=n_sources)
    assert [source["hits_in_events"] for source in found["sources"]] == hits.tolist()
    for item in found["channels"]:
        channel, n = np.unique(merged["hits/channel"][merged["hits/source"] == item["source"]], return_counts=True)
        assert (item["channel"], item["hits"], item["others"]) == (channel.tolist(), n.tolist(), 0)
    assert {item["source"] for item in found["channels"]} == set(np.flatnonzero(hits).tolist())
    assert_ledger(found, ledger, len(time))


def assert_fit(histogram, time, ledger, slice_ns):
    """Over the intervals in which every slice has hits."""
    slices = ledger["slice"][ledger["hits_in"] > 0].astype(np.int64)
    place = np.searchsorted(slices, time // slice_ns)
    unbroken = np.diff(place) == np.diff(time // slice_ns)
    assert 0.5 < unbroken.mean() < 1, "a recording with gaps"
    fit, intervals = histogram["fit"], np.diff(time)[unbroken]
    assert (fit["entries"], fit["range"]) == (len(intervals), "the intervals that span no slice without hits")
    assert fit["rate_per_s"] == pytest.approx(1e9 / intervals.mean())
    assert fit["error_per_s"] == pytest.approx(fit["rate_per_s"] / len(intervals) ** 0.5)
    edges = np.array(histogram["edges"]) * 1e-9
    assert fit["curve"] == pytest.approx(len(intervals) * -np.diff(np.exp(-fit["rate_per_s"] * edges)))


def assert_ledger(found, ledger, n_events):
    for name in ("hits_in", "hits_in_events", "hits_outside", "hits_rejected"):
        assert found["ledger"][name] == ledger[name].sum(), name
    assert found["ledger"]["dropped"] == {cause: n for cause, n in dropped(ledger).items() if n}
    assert (found["ledger"]["slices"], found["ledger"]["events"]) == (len(ledger["slice"]), n_events)
    builders = np.unique(ledger["builder"])
    hits = [int(ledger["hits_in"][ledger["builder"] == b].sum()) for b in builders]
    assert (found["balance"]["builders"], found["balance"]["hits_of_builder"]) == (builders.tolist(), hits)
    assert found["balance"]["efficiency"] == pytest.approx(np.mean(hits) / max(hits))


def assert_series(series, ledger, time, slice_s):
    """Hits and events of each stretch, from the rates, their middles and the length of a slice."""
    first = int(ledger["slice"].min())
    total = int(ledger["slice"].max()) - first + 1
    per = (total - 1) // 200 + 1
    widths = np.minimum(per, total - np.arange(0, total, per)) * slice_s
    assert np.allclose(series["t_s"], np.arange(0, total, per) * slice_s + widths / 2)
    hits = np.bincount((ledger["slice"].astype(int) - first) // per, weights=ledger["hits_in"], minlength=len(widths))
    events = np.bincount((time // round(slice_s * 1e9) - first) // per, minlength=len(widths))
    assert np.allclose(np.array(series["hits_per_s"]) * widths, hits)
    assert np.allclose(np.array(series["events_per_s"]) * widths, events)


def test_report_of_parts(recording, document):
    merged, ledger = columns(recording.merged), read_ledger(recording.output)
    assert (document["kind"], document["state"], document["schema"]) == ("report", "complete", 1)
    assert_document(document, merged, ledger, 69, 200_000)
    assert_series(document["series"], ledger, merged["events/time"], 20 * 10e-6)
    with h5py.File(recording.output) as file:
        assert document["setup"]["configuration"] == file.attrs["setup"].decode()
        assert document["setup"]["versions"]["mpi"] == file.attrs["mpi_version"].decode()
        totals = {counter["name"]: counter["value"] for counter in document["counters"]}
        assert all(totals[name] == file.attrs[name] for name in ("slices", "events", "hits_in", "hits_outside", "hits_written"))
    assert all(counter["help"] for counter in document["counters"])


def test_events_of_a_report_are_those_of_the_file(recording, document):
    merged = columns(recording.merged)
    number = {time: i for i, time in enumerate(merged["events/time"].tolist())}
    assert 10 <= len(document["events"]) <= 20
    largest = sorted(merged["events/n_hits"])[-8:]
    assert sorted(event["n_hits"] for event in document["events"])[-8:] == largest
    for event in document["events"]:
        i = number[int(event["time"])]
        hits = slice(merged["events/first_hit"][i], merged["events/first_hit"][i + 1])
        assert event["hits"]["dt_ns"] == (merged["hits/time"][hits] - int(event["time"])).tolist()
        assert event["hits"]["source"] == merged["hits/source"][hits].tolist()
        assert event["hits"]["channel"] == merged["hits/channel"][hits].tolist()
        assert event["hits"]["payload"] == merged["payload"][merged["hits/first_payload"][:-1][hits]].tolist()


def test_a_merged_file_gives_the_same(recording, document, tmp_path):
    eventloom("report", recording.merged, "-o", tmp_path / "merged.html")
    found = document_of(tmp_path / "merged.html")
    assert found["run"].pop("name") == "merged.h5"
    expected = document | {"run": {key: value for key, value in document["run"].items() if key != "name"}}
    assert found == expected


def test_a_run_that_was_stopped(tmp_path):
    """What its finished parts hold, and that there is more to come."""
    uris = generate(tmp_path / "in", sources=2, rate=20_000, hits=8, width="50ns", noise=200_000, duration="100ms", seed=3)
    words = ["run", *uris, *OPTIONS, "--epochs-per-slice", "250", "--speed", "0.1", "--segment-size", "1", "--output", "run.h5"]
    with Started(tmp_path, *words) as started:
        started.until_parts(5)
        started.send(15, 0)
        started.wait(STOPPED)
    done = eventloom("report", "run.h5", "--output", "report.html", cwd=tmp_path)
    assert "--resume" in done.stdout
    found = document_of(tmp_path / "report.html")
    assert found["state"] == "stopped" and "--resume" in found["message"]
    parts = sorted(tmp_path.glob("run.part-*.h5"))
    ledgers = [read_ledger(part) for part in parts]
    assert_ledger(found, {name: np.concatenate([ledger[name] for ledger in ledgers]) for name in ledgers[0]},
                  sum(len(read_merged(part)["events/time"]) for part in parts))
    assert "finished so far" in eventloom("show", "run.h5", "--summary", cwd=tmp_path).stdout


def test_a_run_without_events(tmp_path):
    uris = generate(tmp_path / "in", sources=1, rate=10_000, hits=2, duration="1ms")
    run = Run(tmp_path / "run", uris, "--define", "gap:1ns,50")
    eventloom("report", run.output, "--output", tmp_path / "a.html")
    assert document_of(tmp_path / "a.html")["events"] == []
    assert "0 events" in eventloom("show", run.output, "--summary").stdout
    only_line(eventloom("show", run.output, "--event", 0, code=2), "no events")


def test_numbered_events(tmp_path):
    run = Run(tmp_path, [DATA / "lmd" / "classic_16k.lmd"], "--define", "tag", code=None)
    eventloom("report", run.output, "--output", tmp_path / "a.html")
    found = document_of(tmp_path / "a.html")
    assert found["setup"]["numbered"] and "fit" not in found["histograms"]["interval"] and "rates" not in found
    assert "event number" in found["series"]["axis"]
    eventloom("show", run.output, "--largest")


def test_plots_as_files(recording, tmp_path):
    shutil.which("gnuplot") or pytest.skip("SKIPPED: gnuplot is not installed")
    words = ["report", recording.output, "--output", tmp_path / "a.html", "--png", tmp_path / "new" / "plots"]
    eventloom(*words)
    names = {path.name for path in (tmp_path / "new" / "plots").iterdir()}
    assert names == {f"{name}.png" for name in ("rates", "multiplicity", "duration", "interval", "sources")}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (tmp_path / "new" / "plots").iterdir())
    only_line(eventloom(*words, code=2), ".png", "exists")


# Events on the terminal


def shown_hits(text):
    """Rows (time since first in ns, source, channel, payload) of the table."""
    rows = re.findall(r"^ +(\S+)  +(\d+)  +(\d+)  (.*)$", text, re.MULTILINE)
    ns = {"ps": Decimal("0.001"), "ns": 1, "us": 1000}
    return [(int(Decimal(t[:-2]) * ns[t[-2:]]), int(s), int(c), [int(word, 16) for word in words.split()]) for t, s, c, words in rows]


def hits_of_event(merged, i):
    found = []
    for hit in range(merged["events/first_hit"][i], merged["events/first_hit"][i + 1]):
        words = merged["payload"][merged["hits/first_payload"][hit]:merged["hits/first_payload"][hit + 1]]
        found.append((merged["hits/time"][hit] - merged["events/time"][i], merged["hits/source"][hit], merged["hits/channel"][hit], words.tolist()))
    return found


@pytest.mark.parametrize("file", ["output", "merged"])
def test_events_by_number(recording, file):
    merged = columns(recording.merged)
    last = len(merged["events/time"]) - 1
    for number in (0, 7, last // 2, last):
        text = eventloom("show", getattr(recording, file), "--event", number).stdout
        assert text.startswith(f"event {number} of {last + 1} ") and "\x1b" not in text
        assert shown_hits(text) == hits_of_event(merged, number)
        assert f"({merged['events/time'][number]} ticks)" in text


def test_events_by_time(recording):
    merged = columns(recording.merged)
    time, end = merged["events/time"], merged["events/time"] + merged["events/duration"]
    inside = int(time[40] + merged["events/duration"][40] // 2)
    after = int(end[40] + 1)
    for at, said in ((inside, False), (f"{inside}ns", False), (after, True), (0, True), (int(end[-1]) + 10**9, True)):
        done = eventloom("show", recording.output, "--time", at)
        ticks = int(str(at).removesuffix("ns"))
        expected = int(np.argmin(np.maximum(np.maximum(time - ticks, ticks - end), 0)))
        assert done.stdout.startswith(f"event {expected} of ")
        assert ("nearest" in done.stderr) == said


def test_the_largest_event(recording):
    merged = columns(recording.merged)
    text = eventloom("show", recording.output, "--largest").stdout
    largest = int(np.argmax(merged["events/n_hits"]))
    assert text.startswith(f"event {largest} of ")
    first = merged["events/first_hit"]
    sources = np.bincount(merged["hits/source"][first[largest]:first[largest + 1]])
    rows = re.findall(r"^  (\d+) \S+ +\|([.\d#]{60})\| (\d+)$", text, re.MULTILINE)
    assert [(int(source), int(n)) for source, _, n in rows] == [(s, n) for s, n in enumerate(sources) if n][:40]


def test_the_largest_event_as_svg(recording, tmp_path):
    merged = columns(recording.merged)
    for _ in range(2):  # the second replaces the first
        eventloom("show", recording.output, "--largest", "--by", "channel", "--svg", tmp_path / "a.svg")
    root = xml.etree.ElementTree.parse(tmp_path / "a.svg").getroot()
    circles = root.findall(".//{http://www.w3.org/2000/svg}circle")
    assert len(circles) == merged["events/n_hits"].max()


def test_summary(recording):
    merged = columns(recording.merged)
    text = eventloom("show", recording.output, "--summary").stdout
    assert text.startswith(f"{len(merged['events/time'])} events with {len(merged['hits/time'])} of ")
    part = text.split("multiplicity [hits]: ")[1].split("\n\n")[0]
    bins = [tuple(map(int, found)) for found in re.findall(r"^  (\d+)(?: up to \d+)? +(\d+)  #*$", part, re.MULTILINE)]
    low = [edge for edge, _ in bins]
    assert [n for _, n in bins] == counts_in(merged["events/n_hits"], np.array([*low, 1 << 40]))
    rows = re.findall(r"^ +(\d+) +(\d+) +[\d.e+]+/s  #* +\S+$", text.split("by source\n")[1].split("\n\n")[0], re.MULTILINE)
    assert [int(n) for _, n in rows] == np.bincount(merged["hits/source"], minlength=69).tolist()
    number, channel, n = map(int, re.search(r"^  source +(\d+) channel +(\d+) +(\d+)", text, re.MULTILINE).groups())
    pairs, counts = np.unique(np.stack([merged["hits/source"], merged["hits/channel"]]), axis=1, return_counts=True)
    assert n == counts.max() and [number, channel] in pairs[:, counts == n].T.tolist()


# Mistakes and hostility


@pytest.fixture
def evil(tmp_path):
    """A run whose source has a name that would act on a page, in SVG, or on a terminal."""
    generate(tmp_path / "in", sources=1, rate=100_000, hits=8, duration="1ms")
    (tmp_path / "in" / "source_000.epochs").rename(tmp_path / "in" / EVIL)
    return Run(tmp_path / "run", [f"file:{tmp_path}/in/*.epochs"], *OPTIONS)


def test_names_do_not_act(evil, tmp_path):
    eventloom("report", evil.output, "--output", tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "<img" not in page and "\x1b" not in page and page.isascii() and page.count("</script>") == 2
    assert document_of(tmp_path / "a.html")["sources"][0]["name"].endswith(EVIL)
    for words in (["--event", 0, "--by", "source"], ["--summary"]):
        text = eventloom("show", evil.output, *words).stdout
        assert "\x1b" not in text and "\u2028" not in text
    eventloom("show", evil.output, "--event", 0, "--by", "source", "--svg", tmp_path / "a.svg")
    assert "<img" not in (tmp_path / "a.svg").read_text()
    xml.etree.ElementTree.parse(tmp_path / "a.svg")


MISTAKES = [
    (["report"], ["no run file"]),
    (["report", "{run}"], ["--output"]),
    (["report", "none.h5", "-o", "a.html"], ["none.h5"]),
    (["report", "text.h5", "-o", "a.html"], ["text.h5"]),
    (["report", "{part}", "-o", "a.html"], ["run.h5"]),
    (["report", "{run}", "-o", "none/a.html"], ["none"]),
    (["report", "{run}", "-o", "a.html", "--png", "text.h5"], ["text.h5", "folder"]),
    (["show", "{run}"], ["--event"]),
    (["show", "{run}", "--event", "0", "--largest"], ["--event"]),
    (["show", "{run}", "--event", "999999999"], ["--event 999999999", "numbered from 0"]),
    (["show", "{run}", "--event", "-1"], ["event"]),
    (["show", "{run}", "--time", "5parsec"], ["--time", "5parsec"]),
    (["show", "{run}", "--largest", "--by", "colour"], ["--by", "colour"]),
    (["show", "{run}", "--summary", "--svg", "a.svg"], ["--svg"]),
    (["show", "{part}", "--summary"], ["run.h5"]),
]


@pytest.mark.parametrize("words, said", MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
def test_mistakes(recording, tmp_path, words, said):
    (tmp_path / "text.h5").write_text("not a run\n")
    part = next(recording.output.parent.glob("run.part-*.h5"))
    done = eventloom(*[word.format(run=recording.output, part=part) for word in words], code=2, cwd=tmp_path)
    only_line(done, *said)
    assert [path.name for path in tmp_path.iterdir()] == ["text.h5"]


def test_without_gnuplot(recording, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "timeout").symlink_to("/usr/bin/timeout")
    done = eventloom("report", recording.output, "--output", tmp_path / "a.html", "--png", tmp_path / "plots", code=2)
    only_line(done, "gnuplot")
    assert not (tmp_path / "a.html").exists() and not (tmp_path / "plots").exists()


def test_damage_is_told(recording, tmp_path):
    for path in recording.output.parent.glob("run*.h5"):
        shutil.copy(path, tmp_path)
    part = sorted(tmp_path.glob("run.part-*.h5"))[0]
    part.unlink()
    only_line(eventloom("report", "run.h5", "-o", "a.html", code=2, cwd=tmp_path), part.name)
    part.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(2000))
    only_line(eventloom("report", "run.h5", "-o", "a.html", code=2, cwd=tmp_path), part.name)
    assert not (tmp_path / "a.html").exists()
