"""Lengths of time: the defaults, combinations that do not fit, and values that look wrong."""

import json
import re

import h5py
import numpy as np
import pytest

from program import DATA, Run, eventloom
from reference import find_events, hits_of, merged_file
from results import assert_same, read_merged

US = 1_000_000  # ps


def source(file, times, unit="ns"):
    """Writes a text file with hits at these times; returns its URI."""
    file.write_text("".join(f"{time},{number % 40}\n" for number, time in enumerate(times)))
    return f"csv:{file}?time=1&channel=2&unit={unit}"


def chain(at, n, apart):
    return at + np.arange(n, dtype=np.uint64) * np.uint64(apart)


def reference(times, definition, overlap, tick_ps=1000):
    hits = hits_of(times, np.arange(len(times)) % 40)
    return merged_file(find_events(hits, definition, overlap=overlap, tick_ps=tick_ps))


@pytest.mark.parametrize("tick, tick_ps, epoch, epoch_ticks", [
    ("1ps", 1, "500ns", 500_000), ("10ps", 10, "5us", 500_000), ("1ns", 1000, "10us", 10_000),
    ("2ns", 2000, "10us", 5_000), ("1ms", 10**9, "1ms", 1)])
def test_an_epoch_is_as_long_as_the_tick_allows(tmp_path, tick, tick_ps, epoch, epoch_ticks):
    ticks = np.concatenate([chain(1000 * (1 + i), 9, 10) for i in range(11)])
    uri = source(tmp_path / "hits.csv", ticks * np.uint64(tick_ps), "ps")
    run = Run(tmp_path, [uri], "--tick", tick, "--define", "gap:10,2", "--epochs-per-slice", 1, timeout=60)
    overlap = epoch if epoch_ticks >= 200 else "200ms"
    assert f"epochs of {epoch}," in run.done.stderr and f"overlap {overlap}" in run.done.stderr
    assert_same(read_merged(run.merged), reference(ticks, "gap:10,2", max(epoch_ticks, 200)))
    with h5py.File(run.merged) as file:
        assert file.attrs["epoch_ticks"] == epoch_ticks
        assert f"epochs of {epoch}," in file.attrs["setup"]
    assert f"epochs of {epoch}," in run.report()["in_force"]
    eventloom("convert", uri, "--tick", tick, "--output", tmp_path / "hits.epochs")
    reported = json.loads(eventloom("inspect", "--json", tmp_path / "hits.epochs").stdout)
    assert (reported["tick_ps"], reported["epoch_ticks"]) == (tick_ps, epoch_ticks)


def test_generated_streams_have_the_same_defaults(tmp_path):
    eventloom("generate", "--output", tmp_path, "--tick", "1ps", "--duration", "100us", "--sources", 1)
    reported = json.loads(eventloom("inspect", "--json", tmp_path / "source_000.epochs").stdout)
    assert (reported["tick_ps"], reported["epoch_ticks"]) == (1, 500_000)


def test_events_of_100_ns_at_a_tick_of_1_ps(tmp_path):
    """They lie across all edges of epochs of 500 ns."""
    times = np.concatenate([chain(10 * US + i * 987_654, 8, 14_000) for i in range(99)])
    run = Run(tmp_path, [source(tmp_path / "hits.csv", times, "ps")], "--tick", "1ps", "--define", "gap:20ns,8",
              "--epochs-per-slice", 1)
    found = read_merged(run.merged)
    assert len(found["events/time"]) == 99
    assert_same(found, reference(times, "gap:20ns,8", 500_000, 1))


def test_the_overlap_is_20_times_what_the_definition_says(tmp_path):
    times = np.concatenate([chain(10**6, 20, 1900), chain(3 * 10**6, 5, 2000)])
    run = Run(tmp_path, [source(tmp_path / "hits.csv", times)], "--define", "gap:2us,3", "--epochs-per-slice", 1)
    assert "overlap 40us" in run.done.stderr
    assert_same(read_merged(run.merged), reference(times, "gap:2us,3", 40_000))


def rings(words):
    depth, size = re.search(r"rings of (\d+) cells of (\d+) KiB", words).groups()
    return int(depth), int(size) * 1024


def test_rings_are_made_for_the_messages_of_recordings(tmp_path):
    """20 million hits/s in slices of 5 ms: 800 kB from each source."""
    eventloom("generate", "--output", tmp_path, "--sources", 2, "--noise", "20e6", "--rate", 1000, "--duration", "20ms")
    words = ["run", "--source", f"file:{tmp_path}/*.epochs", "--define", "gap:2,3", "--epochs-per-slice", 500, "--force",
             "--output", tmp_path / "run.h5", "--report-json", tmp_path / "run.json"]
    reported = eventloom(*words, np=2).stderr
    depth, cell = rings(reported)
    assert cell > 800_000 and depth >= 2
    assert (depth, cell) == rings(json.loads((tmp_path / "run.json").read_text())["in_force"])
    with h5py.File(tmp_path / "run.h5") as file:
        assert (depth, cell) == rings(file.attrs["setup"])
    assert rings(eventloom(*words, "--ring-depth", 3, "--cell-size", "100KiB", np=2).stderr) == (3, 100 * 1024)
    # Passes over a recording are as dense as the recording.
    assert rings(eventloom(*words, "--loop", 3, np=2).stderr)[1] == pytest.approx(cell, rel=0.1)


def test_rings_of_sources_of_unknown_length(tmp_path):
    run = Run(tmp_path, [source(tmp_path / "hits.csv", chain(1000, 9, 10))], "--define", "gap:10,2")
    assert rings(run.done.stderr) == (8, 64 * 1024)


def test_print_config_says_what_is_in_force(tmp_path):
    uri = source(tmp_path / "hits.csv", chain(10**6, 4, 50))
    words = ["run", "--define", "gap:2us,3", "--output", tmp_path / "run.h5", "--print-config"]
    last = eventloom(*words, "--source", uri).stdout.splitlines()[-1]
    assert last == "# in force: ticks of 1ns, epochs of 10us, slices of 100 epochs (1ms), overlap 40us"
    fine = eventloom(*words, "--source", uri.replace("unit=ns", "unit=ps"), "--tick", "1ps").stdout.splitlines()[-1]
    assert "ticks of 1ps" in fine and "overlap 40us" in fine
    assert "live" in eventloom(*words, "--source", "udp://127.0.0.1:0").stdout.splitlines()[-1]
    assert "nosuch" in eventloom(*words, "--source", tmp_path / "nosuch.epochs").stdout.splitlines()[-1]


def test_truncated_events_say_what_helps(tmp_path):
    times = chain(10**6, 400, 50)
    uri = source(tmp_path / "hits.csv", times)
    run = Run(tmp_path / "cut", [uri], "--define", "gap:60ns,3", code=3)
    assert "1 event truncated: raise --overlap (now 10us)" in run.done.stderr
    assert_same(read_merged(run.merged), reference(times, "gap:60ns,3", 10_000))
    whole = Run(tmp_path / "whole", [uri], "--define", "gap:60ns,3", "--overlap", "20us")
    assert "truncated" not in whole.done.stderr


@pytest.mark.parametrize("definition, overlap, longest", [
    ("gap:20us,2", "10us", "20us"), ("gap:101,2", "100", "101ns"), ("multiplicity:1us,3,0,12", "10us", "12us")])
def test_a_definition_longer_than_the_overlap_is_refused(tmp_path, definition, overlap, longest):
    uri = source(tmp_path / "hits.csv", chain(10**6, 4, 50))
    refused = eventloom("run", "--source", uri, "--define", definition, "--overlap", overlap, "--output",
                        tmp_path / "run.h5", code=2)
    line, = (line for line in refused.stderr.splitlines() if " spans " in line)
    assert f"spans {longest}," in line and "use --overlap" in line
    assert not (tmp_path / "run.h5").exists()


def test_lengths_in_event_numbers_have_no_unit(tmp_path):
    done = eventloom("run", "--source", DATA / "lmd/classic_16k.lmd", "--define", "tag", "--output", tmp_path / "run.h5",
                     code=None)
    assert "epochs of 16 event numbers" in done.stderr and "overlap 16 event numbers" in done.stderr


def test_a_wrong_unit_is_reported(tmp_path):
    times = np.cumsum(np.random.default_rng(3).integers(1, 200, 500))
    run = Run(tmp_path / "far", [source(tmp_path / "hits.csv", times, "s")], "--define", "gap:25ns,1", timeout=30)
    assert "hits.csv" in run.done.stderr and "wrong unit or record size?" in run.done.stderr
    assert run.report()["totals"]["hits_in"] == 500
    right = Run(tmp_path / "right", [source(tmp_path / "hits.csv", times)], "--define", "gap:25ns,1")
    assert "wrong unit" not in right.done.stderr


def test_a_hit_far_from_all_others_is_reported(tmp_path):
    times = np.append(chain(10**6, 1000, 50_000), np.uint64(10**6 + 2**55))
    run = Run(tmp_path, [source(tmp_path / "hits.csv", times)], "--define", "gap:25ns,1", timeout=30)
    line, = (line for line in run.done.stderr.splitlines() if "wrong unit" in line)
    assert "hits.csv: hit 1001 at" in line
    assert_same(read_merged(run.merged), reference(times, "gap:25ns,1", 10_000))
