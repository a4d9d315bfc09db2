"""Coincidences between the strings of the neutrino telescope, with its calibrated clocks and positions, recounted by
loops that share no code with the program or the serial reference."""

import csv
import math

import numpy as np
import pytest

from program import DATA, Run
from recordings import read_hdf5
from results import assert_balanced, read_ledger, read_merged

FOLDER = DATA / "km3net_orca4"
RECORDING = FOLDER / "orca4_run6633.h5"
URI = f"hdf5:{RECORDING}?group=/dom_*&time=time&channel=channel&payload=tot&unit=ns"
WINDOW = 500  # ns


@pytest.fixture(scope="module")
def hits():
    """(time, source, channel, string, position) of all hits with calibrated times, in the order of the run.

    Of equal times: by source, then as recorded, where the recording's own times rise."""
    names, streams = read_hdf5(RECORDING)
    with open(FOLDER / "orca4_map.csv") as file:
        known = {(row["source"], int(row["channel"])): row for row in csv.DictReader(file)}
    found = []
    for source, (name, stream) in enumerate(zip(names, streams)):
        order = np.argsort(stream.time, kind="stable")
        for position, (time, channel) in enumerate(zip(stream.time[order].tolist(), stream.channel[order].tolist())):
            row = known[name.rpartition("/")[2], channel]
            time += math.floor(float(row["offset_ns"]) + 0.5)
            place = tuple(float(row[axis]) for axis in ("x_m", "y_m", "z_m"))
            found.append(((time, source, position), channel, row["group"], place))
    found.sort()
    return [(key[0], key[1], channel, string, place) for key, channel, string, place in found]


def events_of(hits, accepts, pre, post):
    """Joined and widened windows of WINDOW in which `accepts(hits of the window)`: lists of hits."""
    spans = []
    end = 0
    first_of_time = 0
    for i, hit in enumerate(hits):
        if hit[0] != hits[first_of_time][0]:
            first_of_time = i
        while end < len(hits) and hits[end][0] <= hit[0] + WINDOW:
            end += 1
        if not accepts(hits[first_of_time:end]):
            continue
        begin, last = hit[0] - pre, hit[0] + WINDOW + post
        if spans and begin <= spans[-1][1]:
            spans[-1][1] = last
        else:
            spans.append([begin, last])
    times = np.array([hit[0] for hit in hits])
    return [hits[np.searchsorted(times, begin):np.searchsorted(times, last, side="right")] for begin, last in spans]


def causal_set(hits, speed, slack):
    """The remaining hits."""
    times = np.array([hit[0] for hit in hits])
    places = np.array([hit[4] for hit in hits])
    apart = np.linalg.norm(places[:, None] - places[None, :], axis=2)
    agree = np.abs(times[:, None] - times[None, :]) <= apart / speed + slack
    left = np.arange(len(hits))
    while True:
        partners = agree[np.ix_(left, left)].sum(axis=1)
        if partners.min() == len(left):
            return [hits[i] for i in left]
        left = np.delete(left, np.flatnonzero(partners == partners.min())[-1])


def strings(window):
    return {string for _, _, _, string, _ in window}


def assert_events(run, expected):
    found = read_merged(run.merged)
    assert found["events/time"].tolist() == [event[0][0] for event in expected]
    assert found["events/n_hits"].tolist() == [len(event) for event in expected]
    assert found["hits/time"].tolist() == [hit[0] for event in expected for hit in event]
    assert found["hits/source"].tolist() == [hit[1] for event in expected for hit in event]
    assert found["hits/channel"].tolist() == [hit[2] for event in expected for hit in event]
    assert_balanced(read_ledger(run.output))


@pytest.mark.parametrize("np_, options", [(None, []), (3, ["--filters", 2, "--epochs-per-slice", 7])])
def test_coincidences_between_two_strings(tmp_path, hits, np_, options):
    expected = events_of(hits, lambda window: {"S2", "S3"} <= strings(window), 0, 0)
    assert len(expected) > 100
    run = Run(tmp_path, [URI], "--detector", FOLDER / "orca4_map.csv", "--define",
              f"coincidence:{WINDOW}ns,S2>=1 && S3>=1", *options, np=np_)
    assert_events(run, expected)


def test_three_strings_widened(tmp_path, hits):
    def many(window):
        n = [sum(hit[3] == string for hit in window) for string in ("S2", "S3", "S4", "S5")]
        return sum(count >= 1 for count in n) >= 3

    condition = "||".join(f"({'&&'.join(f'{s}>=1' for s in three)})" for three in
                          (("S2", "S3", "S4"), ("S2", "S3", "S5"), ("S2", "S4", "S5"), ("S3", "S4", "S5")))
    expected = events_of(hits, many, 300, 200)
    assert len(expected) > 3
    run = Run(tmp_path, [URI], "--detector", FOLDER / "orca4_map.csv", "--define",
              f"coincidence:{WINDOW}ns,{condition},300ns,200ns", np=2)
    assert_events(run, expected)


def test_causal_events_of_several_strings(tmp_path, hits):
    """Hits that light in water, or a muon, can connect."""
    events = events_of(hits, lambda window: len(strings(window)) >= 2, 0, 0)
    expected = [event for event in events if len(causal_set(event, 0.2, 20)) >= 7]
    assert 0 < len(expected) < len(events)
    pairs = [(a, b) for i, a in enumerate(("S2", "S3", "S4", "S5")) for b in ("S2", "S3", "S4", "S5")[i + 1:]]
    run = Run(tmp_path, [URI], "--detector", FOLDER / "orca4_map.csv", "--define",
              f"coincidence:{WINDOW}ns," + "||".join(f"{a}>=1&&{b}>=1" for a, b in pairs),
              "--filter", "causal(0.2m/ns,20ns)>=7", "--filters", 1, np=2)
    assert_events(run, expected)
    assert run.report()["per_filter"] == [{"expression": "causal(0.2m/ns,20ns)>=7", "accepted": len(expected),
                                           "rejected": len(events) - len(expected)}]
