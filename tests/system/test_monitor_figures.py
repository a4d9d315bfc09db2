"""`run --monitor`: channels, filters, multiplicity, payload, clocks and ranks, as numpy finds them in the output."""

import signal

import numpy as np
import pytest

from interrupted import STOPPED
from monitored import Monitored
from program import eventloom, generate
from results import read_merged

DEFINE = ("--define", "gap:25ns,2")
MOST_CHANNELS = 1024  # of a source, counted one by one


def run_to_its_end(folder, uris, *options, np):
    """The last status, the report, and the output."""
    with Monitored(folder, uris, *DEFINE, *options, np=np) as run:
        run.held()
        run.proceed()
        end = run.last_status()
        run.wait(0)
        eventloom("merge", "run.h5", "--output", "merged.h5", cwd=folder)
        return end, run.report(), read_merged(folder / "merged.h5")


def channels_in(found):
    """{source: {channel: hits}}"""
    keys = found["hits/source"].astype(np.uint64) << np.uint64(32) | found["hits/channel"].astype(np.uint64)
    counted = {}
    for key, hits in zip(*np.unique(keys, return_counts=True)):
        counted.setdefault(int(key) >> 32, {})[int(key) & 0xffffffff] = int(hits)
    return counted


def told_channels(status):
    return {of["source"]: dict(zip(of["channel"], of["hits"])) for of in status["channels"]}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    uris = generate(folder / "streams", sources=3, rate=20_000, hits=8, noise=20_000, payload=2, channels=300, duration="200ms")
    # Coarser than the clocks of busy ranks.
    return run_to_its_end(folder / "run", uris, "--filters", 2, "--filter", "n_hits>=6", "--slot", "20ms", np=3)


def test_hits_by_channel(run):
    status, _, found = run
    assert told_channels(status) == channels_in(found) and len(found["hits/time"]) > 10_000
    assert all(of["others"] == 0 for of in status["channels"])


def test_filters(run):
    status, report, found = run
    filters = status["filters"]
    assert [row["index"] for row in filters] == [0, 1]
    assert sum(row["accepted"] for row in filters) == len(found["events/time"]) == report["totals"]["events"]
    rejected = sum(row["rejected"] for row in filters)
    assert rejected + len(found["events/time"]) == sum(row["events"] for row in status["builders"])
    assert rejected > 0 and sum(row["hits_rejected"] for row in filters) == report["totals"]["hits_rejected"]
    assert next(c["value"] for c in status["counters"] if c["name"] == "events_rejected") == rejected


def test_multiplicity_in_bins_of_one(run):
    status, _, found = run
    histogram = status["histograms"]["multiplicity"]
    edges, counts = np.array(histogram["edges"]), np.array(histogram["counts"])
    assert not histogram["log_x"] and (np.diff(edges) == 1).all()
    assert (np.histogram(found["events/n_hits"], edges)[0] == counts).all() and counts.sum() == len(found["events/n_hits"])


def test_payload_of_events(run):
    status, _, found = run
    assert status["events"]
    for event in status["events"]:
        at = list(found["events/time"]).index(int(event["time"]))
        first = int(found["events/first_hit"][at])
        words = found["hits/first_payload"][first:first + event["n_hits"]]
        assert event["hits"]["payload"] == found["payload"][words].tolist()


def test_clocks_and_ranks(run):
    status, report, _ = run
    assert [{"rank": rank} | clock for rank, clock in enumerate(report["clocks"])] == status["clocks"]
    assert len(status["clocks"]) == 3 and status["clocks"][0]["offset_ns"] == 0
    assert [rank["remark"] for rank in status["ranks"]] == ["", "", ""]


def test_any_channels_in_bounded_memory(tmp_path):
    uris = generate(tmp_path / "streams", sources=2, rate=100_000, hits=8, channels=65536, duration="100ms")
    status, _, found = run_to_its_end(tmp_path / "run", uris, "--speed", 0.01, np=2)  # still runs at the pause
    written = channels_in(found)
    assert all(len(of) > 10 * MOST_CHANNELS for of in written.values())
    for of in status["channels"]:
        assert len(of["channel"]) <= MOST_CHANNELS
        assert sum(of["hits"]) + of["others"] == sum(written[of["source"]].values())
        assert all(hits <= written[of["source"]][channel] for channel, hits in zip(of["channel"], of["hits"]))


def test_a_rank_that_is_silent_is_named(tmp_path):
    uris = generate(tmp_path / "streams", sources=2, rate=2000, noise=4000, duration="500ms")
    with Monitored(tmp_path / "run", uris, *DEFINE, "--speed", 0.005, np=2) as run:
        run.listening()
        run.until_all_reported()
        run.send(signal.SIGSTOP, 1)
        status = run.until_status(lambda s: any(rank["remark"] for rank in s["ranks"]), "a remark")
        run.send(signal.SIGCONT, 1)
        assert [rank["rank"] for rank in status["ranks"] if rank["remark"].startswith("silent for ")] == [1]
        run.until_status(lambda s: not any(rank["remark"] for rank in s["ranks"]), "no remark")
        assert run.control("stop")[0] == 202
        run.wait(STOPPED)
