"""report and show: their numbers are those that h5py and numpy find in the files of the run; mistakes; names that would
act."""

import json
import re
import shutil
import xml.etree.ElementTree
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import h5py
import numpy as np
import pytest

from datagrams import HOST
from interrupted import STOPPED, Started
from live import LiveRun, free_port, udp
from page import document_of
from program import DATA, Run, eventloom, generate, only_line
from results import assert_same, dropped, read_ledger, read_merged
from seals import seal, unseal
from truth import RECORDINGS

OPTIONS = ["--define", "gap:25ns,4"]
EVIL = "<img src=x onerror=alert(1)>\u2028\x1b[31m\"'&.epochs"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A real recording, in two writers' parts."""
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
    """Counted like a histogram with half-open bins."""
    places = np.searchsorted(edges, values, side="right") - 1
    return np.bincount(places, minlength=len(edges) - 1).tolist()


def assert_histogram(histogram, values):
    assert histogram["counts"] == counts_in(values, np.array(histogram["edges"]))
    assert sum(histogram["counts"]) == histogram["entries"] == len(values)
    assert histogram["mean"] == pytest.approx(values.mean())
    assert (histogram["least"], histogram["greatest"]) == (values.min(), values.max())


def assert_document(found, merged, ledger, n_sources, slice_ns):
    """The contents of the page for a run with a tick of 1 ns."""
    time = merged["events/time"]
    assert_histogram(found["histograms"]["multiplicity"], merged["events/n_hits"])
    assert_histogram(found["histograms"]["duration"], merged["events/duration"])
    assert_histogram(found["histograms"]["interval"], np.diff(time))
    assert_fit(found["histograms"]["interval"], merged, ledger, slice_ns)
    hits = np.bincount(merged["hits/source"], minlength=n_sources)
    assert [source["hits_in_events"] for source in found["sources"]] == hits.tolist()
    for item in found["channels"]:
        channel, n = np.unique(merged["hits/channel"][merged["hits/source"] == item["source"]], return_counts=True)
        assert (item["channel"], item["hits"], item["others"]) == (channel.tolist(), n.tolist(), 0)
    assert {item["source"] for item in found["channels"]} == set(np.flatnonzero(hits).tolist())
    assert_ledger(found, ledger, len(time))


def assert_fit(histogram, merged, ledger, slice_ns):
    """Fitted over the intervals in which every slice has hits, from where events can follow one another: maximum
    likelihood of a geometric distribution of ticks."""
    time, duration = merged["events/time"], merged["events/duration"]
    slices = ledger["slice"][ledger["hits_in"] > 0].astype(np.int64)
    place = np.searchsorted(slices, time // slice_ns)
    unbroken = np.diff(place) == np.diff(time // slice_ns)
    assert 0.5 < unbroken.mean() < 1, "a recording with gaps"
    fit = histogram["fit"]
    least = np.quantile(duration, 0.99, method="higher") + (time[1:] - time[:-1] - duration[:-1]).min()
    assert least <= fit["from_ns"] <= 1.01 * least + 1
    beyond = np.diff(time)[unbroken] - fit["from_ns"]
    beyond = beyond[beyond >= 0]
    assert (fit["entries"], fit["range"]) == (len(beyond), "that span no slice without hits")
    rate = np.log1p(1 / beyond.mean())
    assert fit["rate_per_s"] == pytest.approx(1e9 * rate)
    assert fit["error_per_s"] == pytest.approx(1e9 * rate / len(beyond) ** 0.5, rel=1e-6)
    edges = np.maximum(np.array(histogram["edges"]) - fit["from_ns"], 0)
    assert fit["curve"] == pytest.approx(len(beyond) * -np.diff(np.exp(-rate * edges)))


def assert_ledger(found, ledger, n_events):
    for name in ("hits_in", "hits_in_events", "hits_outside", "hits_rejected"):
        assert found["ledger"][name] == ledger[name].sum(), name
    removed = ("masked", "cut", "flagged", "outside_stretch", "dead_time", "copy")
    assert found["ledger"]["lost"] == sum(n for cause, n in dropped(ledger).items() if cause not in removed)
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
        assert document["setup"]["configuration"] == file.attrs["setup"]
        assert document["setup"]["versions"]["mpi"] == file.attrs["mpi_version"]
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


def without_account(document):
    """Without what only run.h5 holds."""
    ours = {key: value for key, value in document.items() if key not in ("message", "clocks", "run_series")}
    ours["run"] = {key: document["run"][key] for key in ("data_s",)}
    ours["counters"] = [counter for counter in document["counters"] if counter["name"] in SUMS]
    ours["sources"] = [{key: value for key, value in source.items() if key not in ("counters", "lost", "dead_time_s")}
                       for source in document["sources"]]
    ours["balance"] = {key: value for key, value in document["balance"].items() if key not in ("busy_s", "idle_s", "busy")}
    return ours


SUMS = ["slices", "events", "events_truncated", "events_incomplete", "hits_in", "hits_in_events", "hits_outside", "hits_rejected",
        "hits_written", "incomplete_slices", "unbalanced_slices", "anomalies",
        *(f"hits_dropped_{cause}" for cause in ("corrupt", "duplicate", "out_of_order", "repeated_incomplete", "out_of_step",
                                                "untimed", "lost", "late", "congested", "masked", "cut", "jump", "flagged", "outside_stretch",
                                                "dead_time", "copy"))]


def test_a_merged_file_gives_the_same(recording, document, tmp_path):
    eventloom("report", recording.merged, "-o", tmp_path / "merged.html")
    found = document_of(tmp_path / "merged.html")
    assert found["run"]["name"] == "merged.h5" and found["message"].endswith("is in its run.h5")
    assert "began" not in found["run"] and "lost" not in found["sources"][0]
    assert without_account(found) == without_account(document)


# The account of the run itself in run.h5


def text_of(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def texts(column):
    return [text_of(value) for value in column]


def at(text):
    return datetime.strptime(text_of(text), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def counters_of(file, source=None):
    """{name: value} of the run, or of a source."""
    group = file["counters" if source is None else "source_counters"]
    chosen = np.ones(len(group["value"]), bool) if source is None else group["source"][:] == source
    return {name: int(value) for name, value, mine in zip(texts(group["name"][:]), group["value"][:], chosen) if mine}


def test_when_and_how_it_ran(tmp_path):
    before = datetime.now(timezone.utc).replace(microsecond=0)
    uris = generate(tmp_path / "in", sources=1, rate=100_000, hits=8, duration="1ms")
    run = Run(tmp_path / "a b's", uris, *OPTIONS)
    with h5py.File(run.output) as file:
        assert before <= at(file.attrs["began"]) <= at(file.attrs["ended"]) <= datetime.now(timezone.utc)
        line, = texts(file.attrs["command_lines"])
        assert f" run --source {uris[0]} --define gap:25ns,4 --output '{tmp_path}/a b'\\''s/run.h5' " in line
        assert re.fullmatch(r"([0-9a-f]{12}\+?)?", text_of(file.attrs.get("eventloom_commit", "")))
        assert "time_of_tick_0" not in file.attrs
        own = {name: text_of(file.attrs[name]) for name in ("began", "ended")}
    reported = eventloom("inspect", run.output).stdout
    assert all(re.search(f"^    {name} +{value}$", reported, re.MULTILINE) for name, value in own.items())
    assert re.search(f"^    command_lines +{re.escape(line)}$", reported, re.MULTILINE)
    shown = json.loads(eventloom("inspect", "--json", run.output).stdout)["attributes"]
    assert shown["command_lines"] == [line] and own.items() <= shown.items()
    with h5py.File(run.merged) as file:
        assert not {"began", "ended", "command_lines", "counters"} & {*file.attrs, *file}
    eventloom("report", run.output, "--output", tmp_path / "a.html")
    found = document_of(tmp_path / "a.html")["run"]
    assert own.items() <= found.items() and found["command_lines"] == [line]


def test_counters_of_run_and_sources(recording, document):
    report = recording.report()
    with h5py.File(recording.output) as file:
        run = counters_of(file)
        expected = {name: n for name, n in report["totals"].items() if isinstance(n, int)} | report["sent"]
        assert expected.items() <= run.items()
        assert run == {counter["name"]: counter["value"] for counter in document["counters"]}
        for row in report["per_source"]:
            assert counters_of(file, row["source"]) == row["counts"] == document["sources"][row["source"]].get("counters", {})
        units = dict(zip(texts(file["counters/name"][:]), texts(file["counters/unit"][:])))
        assert (units["message_bytes"], units["slices"]) == ("bytes", "slices")
        builders = {name: column[:] for name, column in file["builders"].items()}
        assert builders["builder"].tolist() == document["balance"]["builders"]
        assert np.allclose(builders["busy"] / 1e9, document["balance"]["busy_s"])
        assert document["balance"]["busy"] == pytest.approx(builders["busy"].sum() / (builders["busy"] + builders["idle"]).sum())
        assert len({int(all_ns) for all_ns in builders["busy"] + builders["idle"]}) == 1
        assert all(column.attrs["units"] for column in (file["builders/busy"], file["builders/idle"]))


@pytest.mark.parametrize("builders, sent", [(1, "none"), (2, "some"), (5, "all")])
def test_data_for_builders_on_their_own_rank_are_lent(tmp_path, builders, sent):
    """Rank 0 has the source and the first builder. With more than four builders, data are not lent."""
    eventloom("generate", "--output", tmp_path / "made", "--sources", 1, "--rate", "1e6", "--noise", "2e6", "--duration", "50ms")
    run = Run(tmp_path, [tmp_path / "made/source_000.epochs"], *OPTIONS, "--builders", builders, np=builders)
    account = run.report()["sent"]
    share = account["cell_bytes"] / account["message_bytes"]
    assert {"none": share < 0.1, "some": 0.3 < share < 0.9, "all": share > 1}[sent], share


def test_losses_by_source_and_cause(tmp_path):
    """Half of one source's epoch buffer is damaged."""
    uris = generate(tmp_path / "in", sources=2, rate=100_000, hits=8, duration="20ms", seed=5)
    damaged = tmp_path / "in" / "source_001.epochs"
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(data)
    run = Run(tmp_path / "run", uris, *OPTIONS, code=3)
    eventloom("report", run.output, "--output", tmp_path / "a.html")
    found = document_of(tmp_path / "a.html")
    lost = dropped(read_ledger(run.output))
    assert lost["corrupt"] > 0
    with h5py.File(run.output) as file:
        causes = {name.removeprefix("hits_dropped_"): n for name, n in counters_of(file, 1).items() if name.startswith("hits_dropped")}
        assert causes == {cause: n for cause, n in lost.items() if n} and not counters_of(file, 0).get("hits_dropped_corrupt")
    assert [source.get("lost", 0) for source in found["sources"]] == [0, lost["corrupt"]]
    assert found["sources"][1]["counters"]["events_lacking"] > 0


def test_latency_of_a_live_run(tmp_path):
    """Also tests the time of tick 0, which its boards state; the run began after it."""
    port, made = free_port(), tmp_path / "made"
    stream = ["--sources", 2, "--rate", 20_000, "--hits", 8, "--duration", "1500ms", "--seed", 3]
    with LiveRun(tmp_path / "run", [udp(port, sources="0,1")], *OPTIONS, "--epoch-timeout", "20s").listening() as run, \
            Started(tmp_path, "generate", *stream, "--live", "--to", f"udp://{HOST}:{port}", "--output", made) as maker:
        maker.wait(0)
        run.wait(0)
    reported = run.report()["latency"]
    eventloom("report", "run.h5", "--output", "a.html", cwd=tmp_path / "run")
    found = document_of(tmp_path / "run" / "a.html")
    with h5py.File(tmp_path / "run" / "run.h5") as file:
        low, high, events = (file["latency"][name][:] for name in ("low", "high", "events"))
        assert events.sum() == reported["count"] and (low[0], high[-1]) == (reported["min_ns"], reported["max_ns"])
        assert (low < high).all() and (low[1:] >= high[:-1] * (1 - 1e-9)).all()
        for p, key in ((50, "p50_ns"), (99, "p99_ns")):
            place = np.searchsorted(np.cumsum(events), np.ceil(p * events.sum() / 100))
            assert high[place] == pytest.approx(reported[key])
        tick_0 = text_of(file.attrs["time_of_tick_0"])
        zero = at(tick_0[:19] + "Z")
        assert re.fullmatch(r".{19}\.\d{9}Z", tick_0) and abs(zero - at(file.attrs["began"])) < timedelta(minutes=1)
        assert (file["rates/hits"][:] >= 0).all() and (np.diff(file["rates/time"][:]) > 0).all()
    latency = found["histograms"]["latency"]
    assert sum(latency["counts"]) == latency["entries"] == reported["count"]
    assert latency["percentiles"]["ns"] == pytest.approx([reported[key] for key in ("p50_ns", "p90_ns", "p99_ns", "p999_ns")])
    assert found["run"]["time_of_tick_0"] == tick_0


def test_quality_of_clocks(tmp_path):
    uris = generate(tmp_path / "in", sources=2, rate=20_000, hits=8, duration="20ms")
    run = Run(tmp_path / "run", uris, *OPTIONS, "--slot", "20ms", np=2)
    clocks = run.report().get("clocks") or pytest.skip("SKIPPED: the cores are too busy for slots")
    eventloom("report", run.output, "--output", tmp_path / "a.html")
    with h5py.File(run.output) as file:
        for name, key in (("offset", "offset_ns"), ("rate", "rate_ppm"), ("precision", "precision_ns"), ("round_trips", "round_trips")):
            assert file["clocks"][name][:].tolist() == pytest.approx([clock[key] for clock in clocks]), name
    assert [clock["offset_ns"] for clock in document_of(tmp_path / "a.html")["clocks"]] == pytest.approx([c["offset_ns"] for c in clocks])


def test_files_of_earlier_versions(recording, tmp_path):
    """They lack all of it."""
    for path in recording.output.parent.glob("run*.h5"):
        shutil.copy(path, tmp_path)
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        for name in ("began", "ended", "command_lines", "eventloom_commit"):
            file.attrs.pop(name, None)
        for name in ("counters", "source_counters", "builders"):
            del file[name]
        file.attrs["comment"] = "of a user"
        unseal(file)
    eventloom("report", "run.h5", "-o", "a.html", cwd=tmp_path)
    found = document_of(tmp_path / "a.html")
    assert set(found["run"]) == {"name", "data_s"} and [counter["name"] for counter in found["counters"]] == SUMS
    eventloom("inspect", "run.h5", cwd=tmp_path)
    eventloom("merge", "run.h5", "--output", "merged.h5", cwd=tmp_path)
    assert_same(read_merged(tmp_path / "merged.h5"), read_merged(recording.merged))


@pytest.mark.parametrize("damage, said", [
    (lambda file: file["counters"].pop("unit"), "/counters/unit"),
    (lambda file: file["builders/idle"].resize((1,)), "/builders/builder"),
    (lambda file: file["source_counters/source"].write_direct(np.full(len(file["source_counters/source"]), 4000, "u4")), "4000"),
], ids=["missing", "short", "source"])
def test_damaged_accounts_are_refused(recording, tmp_path, damage, said):
    for path in recording.output.parent.glob("run*.h5"):
        shutil.copy(path, tmp_path)
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        damage(file)
        seal(file)
    only_line(eventloom("report", "run.h5", "-o", "a.html", code=2, cwd=tmp_path), said)
    assert not (tmp_path / "a.html").exists()


def test_a_run_that_was_stopped(tmp_path):
    """Contents of its finished parts, and that more is to come."""
    uris = generate(tmp_path / "in", sources=2, rate=20_000, hits=8, width="50ns", noise=200_000, duration="100ms", seed=3)
    words = ["run", *uris, *OPTIONS, "--epochs-per-slice", "250", "--speed", "0.02", "--segment-size", "1", "--output", "run.h5"]
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
    assert len(found["run"]["command_lines"]) == 1 and found["run"]["ended"] >= found["run"]["began"]
    eventloom("run", *uris, *OPTIONS, "--epochs-per-slice", "250", "--output", "run.h5", "--resume", cwd=tmp_path)
    eventloom("report", "run.h5", "--output", "report.html", cwd=tmp_path)
    ended = document_of(tmp_path / "report.html")
    assert ended["state"] == "complete" and ended["run"]["began"] == found["run"]["began"]
    first, second = ended["run"]["command_lines"]
    assert "--speed 0.02" in first and second.endswith("--resume")
    sent = [{counter["name"]: counter["value"] for counter in one["counters"]}["message_bytes"] for one in (found, ended)]
    assert 0 < sent[0] < sent[1]


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
    assert names == {f"{name}.png" for name in ("rates", "multiplicity", "duration", "interval", "sources", "channels", "ledger", "balance")}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (tmp_path / "new" / "plots").iterdir())


def test_plots_give_way_to_those_of_another_report(recording, tmp_path):
    """Only Eventloom's own plots are replaced, and none of another run stays beside them."""
    shutil.which("gnuplot") or pytest.skip("SKIPPED: gnuplot is not installed")
    empty = Run(tmp_path / "empty", generate(tmp_path / "streams", sources=1, rate=1, noise=1000, duration="10ms"), "--define", "gap:1ns,99")
    plots = tmp_path / "plots"

    def report(run, code=0):
        return eventloom("report", run, "--output", tmp_path / "a.html", "--png", plots, code=code)
    report(recording.output)
    first = (plots / "rates.png").read_bytes()
    (plots / "other.png").write_bytes(first)
    report(recording.output)
    assert (plots / "rates.png").read_bytes() == first
    report(empty.output)
    assert {path.name for path in plots.iterdir()} == {"rates.png", "sources.png", "channels.png", "ledger.png", "balance.png", "other.png"}
    assert (plots / "rates.png").read_bytes() != first
    for foreign in (b"\x89PNG, of somebody else", b"Eventloom", first[:40]):
        (plots / "duration.png").write_bytes(foreign)
        only_line(report(recording.output, code=2), "duration.png")
        assert (plots / "duration.png").read_bytes() == foreign


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


def test_damage_is_reported(recording, tmp_path):
    for path in recording.output.parent.glob("run*.h5"):
        shutil.copy(path, tmp_path)
    part = sorted(tmp_path.glob("run.part-*.h5"))[0]
    part.unlink()
    only_line(eventloom("report", "run.h5", "-o", "a.html", code=2, cwd=tmp_path), part.name)
    part.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(2000))
    only_line(eventloom("report", "run.h5", "-o", "a.html", code=2, cwd=tmp_path), part.name)
    assert not (tmp_path / "a.html").exists()
