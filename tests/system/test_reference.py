"""The serial reference itself: compared with handmade results and the recordings' truth files. Does not run the
program."""

import numpy as np
import pytest

import truth
from epochs_file import crc32c
from expressions import Detector
from reference import find_events, hits_of, ledger, merged_file, passes, weave


def found(times, definition, overlap=10**9):
    events = find_events(weave([hits_of(times, np.arange(len(times)))]), definition, overlap)
    return [times[b:e] for b, e in zip(events.begin, events.end)], events.truncated.tolist()


@pytest.mark.parametrize("definition, times, events", [
    ("gap:5,2", [0, 5, 11, 20, 25, 30, 36], [[0, 5], [20, 25, 30]]),
    ("gap:0,2", [3, 3, 4, 4, 4], [[3, 3], [4, 4, 4]]),
    ("tag", [1, 1, 2, 7, 7], [[1, 1], [2], [7, 7]]),
    ("multiplicity:10,2", [9, 10, 11, 20, 29, 30, 45], [[10, 11, 20, 29]]),
    ("multiplicity:10,2,1,1", [0, 9, 10, 19, 20, 30, 40], [[0, 9, 10, 19, 20]]),
    # Bins 1 and 4 are full: widened by one each way, [0, 3) and [3, 6) touch, so they are one event.
    ("multiplicity:10,2,1,1", [5, 10, 11, 33, 40, 41, 59, 60], [[5, 10, 11, 33, 40, 41, 59]]),
    ("multiplicity:10,2,0,1", [5, 10, 11, 33, 40, 41, 59, 60], [[10, 11], [40, 41, 59]]),
    ("gap:5,1", [], []),
    ("gap:3,2,8,6", [2, 10, 12, 18, 30, 32, 60], [[2, 10, 12, 18], [30, 32]]),
    ("gap:3,2,12,6", [2, 10, 12, 18, 30, 32, 60], [[2, 10, 12, 18, 30, 32]]),
    ("coincidence:5,n_hits>=2", [10, 15, 21, 40, 46], [[10, 15]]),
    ("coincidence:5,n_hits>=2", [10, 15, 20, 30], [[10, 15, 20]]),
    ("coincidence:4,n_hits>=2", [10, 11, 16, 17], [[10, 11], [16, 17]]),
    ("coincidence:1,n_hits>=2,14,4", [0, 10, 11, 14, 20, 30, 31], [[0, 10, 11, 14], [20, 30, 31]]),
    ("coincidence:1,n_hits>=2,15,4", [0, 10, 11, 14, 20, 30, 31], [[0, 10, 11, 14, 20, 30, 31]]),
    # Channels number the hits.
    ("coincidence:5,channel:0-1>=1 && channel:2>=1", [1, 2, 7, 8], [[2, 7]]),
])
def test_definitions(definition, times, events):
    assert found(times, definition)[0] == events


def test_long_events_are_cut_and_start_no_other():
    chain = list(range(0, 100, 5))
    assert found([*chain, 200], "gap:5,2", overlap=20) == ([[0, 5, 10, 15, 20]], [True])
    assert found([0, 5, 10, 15, 20], "gap:5,2", overlap=20) == ([[0, 5, 10, 15, 20]], [False])
    assert found(chain, "gap:5,6", overlap=20) == ([[0, 5, 10, 15, 20]], [True])  # the minimum counts before the cut
    assert found(chain, "gap:5,21", overlap=20) == ([], [])


def test_order_is_time_then_source_then_position():
    whole = weave([hits_of([2, 1, 2], [10, 11, 12], payload=[[1], [2], [3]]), hits_of([2, 1], [20, 21], payload=[[4], [5]])])
    assert whole.channel.tolist() == [11, 21, 10, 12, 20]
    assert whole.payload.tolist() == [2, 5, 1, 3, 4]


def test_filters():
    hits = hits_of([10, 20, 30], [0x1200, 0x12FF, 1 << 22])
    for expression in ("n_hits>=3", "duration<=20ns", "systems>=2", "channel:0x1200-0x12ff>=2", "n_hits!=4"):
        assert passes(hits, 0, 3, expression), expression
    for expression in ("n_hits>=9 || n_hits<4 && !systems==1", "!(n_hits==3 && sources==2)", "source:0-3=3",
                       "(n_hits>8||n_hits<4) && duration<0.5us"):
        assert passes(hits, 0, 3, expression), expression
    for expression in ("n_hits>3", "duration<20", "systems==1", "channel:0x1200-0x12fe==2"):
        assert not passes(hits, 0, 3, expression), expression


def test_groups_and_causal_sets():
    detector = Detector({"A": [(0, 1, 2), (None, 7, 9)], "empty": []}, {(0, 1): (0, 0, 0), (0, 2): (0, 30, 0), (0, 7): (0, 0, 0)})
    hits = hits_of([0, 100, 150, 160], [1, 2, 7, 8])
    for expression, holds in [("A==4", True), ("empty==0", True), ("A>4", False),
                              # 30 m at 0.3 m/ns are 100 ns: 0 and 100 are partners, 100 and 150, too, 0 and 150 are not.
                              ("causal(0.3m/ns,0)==2", True), ("causal(0.3,150ns)==3", True), ("causal(0.3,149ns)==2", True)]:
        assert passes(hits, 0, 4, expression, detector=detector) == holds, expression


def test_ledger_counts_hits_where_they_lie():
    hits = weave([hits_of([95, 99, 101, 150, 210, 212], np.zeros(6))])
    assert ledger(find_events(hits, "gap:5,2", 1000, ["n_hits>=3"]), 100) == {
        0: (2, 2, 0, 0), 1: (2, 1, 1, 0), 2: (2, 0, 0, 2)}


def test_checksum():
    assert crc32c(b"123456789") == 0xE3069283  # RFC 3720's polynomial, the usual check value


@pytest.mark.parametrize("recording", truth.RECORDINGS, ids=lambda r: r.name)
def test_truth_files(recording):
    hits = weave(recording.streams())
    truth.assert_all_hits(recording, hits.time, hits.source, hits.channel, recording.values(hits.payload, len(hits)))
    for gap, least in recording.rules:
        truth.assert_events(recording, gap, least, merged_file(find_events(hits, f"gap:{gap},{least}", recording.overlap)))
