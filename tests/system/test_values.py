"""Conditions on values of hits and on their times, compared with the serial reference: gains and zeros of a map, ranges
of values, sums, maxima, different channels, separate windows and the order of first hits."""

import h5py
import numpy as np
import pytest

from detector_reference import set_values, write_map
from epochs_file import hits_of_file, read_epochs_file
from expressions import Detector, Expression
from program import Run, eventloom, generate
from reference import find_events, indices, ledger, merged_file, weave
from results import assert_balanced, assert_same, ledger_rows, read_ledger, read_merged

EPOCH = 10_000
ROWS = [{"gain": "0.5", "zero": "-3"}, {"source": "1-2", "gain": "-0.125"}, {"source": "2", "channel": "0x800000-0x80000f",
        "gain": "1e-3", "zero": "17.25", "unit": "keV"}, {"source": "4", "zero": "0"}]
GROUPS = {"A": [(0, 0, 0xFFFFFFF), (1, 0, 0xFFFFFFF)], "B": [(None, 0x400010, 0x80000F)],
          "veto": [(None, 0xC00004, 0xC00005), (4, 0x1000000, 0x1000003)], "none": [(None, 0xFFFFFF0, 0xFFFFFFF)]}
GROUP_WORDS = [word for text in ("A=source:0-1", "B=channel:0x400010-0x80000f", "veto=channel:0xc00004-0xc00005",
                                 "none=channel:0xffffff0-0xfffffff") for word in ("--group", text)]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Streams with one payload word, a map, and the options; two of the sources have no payload."""
    folder = tmp_path_factory.mktemp("streams")
    uris = generate(folder / "words", sources=4, rate=20_000, timing="poisson", hits=8, width="50ns", noise=100_000,
                    duration="10ms", payload=1, channels=32, seed=38)
    uris += generate(folder / "bare", sources=1, rate=20_000, timing="poisson", hits=8, width="50ns", noise=50_000,
                     duration="10ms", payload=0, channels=32, seed=38)
    names = [uri.removeprefix("file:") for uri in uris]
    streams = [hits_of_file(read_epochs_file(name)) for name in names]
    rows = [*ROWS, {"source": "4", "channel": "0x1000000-0x1000003", "group": "veto"}]
    set_values(streams, names, rows)
    path = write_map(folder / "map.csv", rows)
    return uris, weave(streams), ["--detector", path, *GROUP_WORDS], Detector(GROUPS)


def quantile(recording, group, share):
    hits, detector = recording[1], recording[3]
    values = hits.value[detector.in_group(group, hits.source, hits.channel)]
    return round(float(np.nanquantile(values, share)), 3)


def filled(text, recording):
    """Replaces A@0.3 by that quantile of the values of A."""
    words = text.split("@")
    for i in range(1, len(words)):
        group, share = words[i - 1][-1], words[i][:3]
        words[i - 1], words[i] = words[i - 1][:-1] + str(quantile(recording, group, float(share))), words[i][3:]
    return "".join(words)


CONDITIONS = [
    ("coincidence:50ns,A{A@0.2..A@0.4}>=2 && n_hits>=3", []),
    ("coincidence:20ns,B[-200ns,120ns]>=2 && veto[-1us,-1]==0 && A>=1,10,5", []),
    ("coincidence:50ns,(sum(A)>=A@0.9 || max(B)<B@0.1) && n_hits>=3", ["sum(A)!=0 && max(B)>=-1e9"]),
    ("coincidence:50ns,channels(A)>=4 && order(A,B)", ["channels(B[0,40ns])>=2 || !order(B,A)"]),
    ("coincidence:30ns,A{A@0.1..A@0.6}[-100ns,0]>=2 && source:1-2{-1e9..B@0.5}>=1,0,7", ["max(none)<5 || A[10ns,1us]>=1"]),
    ("coincidence:0,A[5,30ns]>=3 && B[-4us,60ns]{B@0.0..B@0.9}>=1", []),
    ("gap:60ns,3", ["B{B@0.5..B@0.9}>=1 && order(A[0,30ns],B[5,1us])", "sum(channel:0x0-0x80000f)>0", "channels(veto)<3"]),
    ("coincidence:40ns,source:4{-1e9..1e9}>=1 || max(source:4)>=-1e9 || sum(source:4)==0 && sources>=4", []),
]


@pytest.mark.parametrize("per_slice, filter_ranks, ranks", [(1, 2, None), (13, 0, 3)])
@pytest.mark.parametrize("definition, filters", CONDITIONS, ids=range(len(CONDITIONS)))
def test_equals_the_reference(tmp_path, recording, definition, filters, per_slice, filter_ranks, ranks):
    uris, hits, words, known = recording
    definition, filters = filled(definition, recording), [filled(text, recording) for text in filters]
    run = Run(tmp_path, uris, *words, "--define", definition, *[w for text in filters for w in ("--filter", text)],
              "--filters", filter_ranks, "--epochs-per-slice", per_slice, "--overlap", EPOCH, np=ranks, code=None)
    events = find_events(hits, definition, EPOCH, filters, detector=known)
    found = read_merged(run.merged)
    expected = merged_file(events, with_payload=True)
    assert_same({name: found[name] for name in expected}, expected)
    kept = indices(events.begin[~events.rejected], events.end[~events.rejected])
    assert np.array_equal(found["hits/value"], hits.value[kept], equal_nan=True)
    account = read_ledger(run.output)
    assert_balanced(account)
    assert ledger_rows(account) == ledger(events, per_slice * EPOCH)
    assert len(events.begin) > 20 and (not filters or 0 < events.rejected.sum() < len(events.begin))


def test_windows_in_ticks_and_in_units(tmp_path, recording):
    """5ns is before 40 ticks of 1 ns, which the streams state; the same window is empty where ticks are shorter."""
    uris, hits, words, known = recording
    run = Run(tmp_path, uris, *words, "--define", "coincidence:50ns,A[5ns,40]>=2", "--overlap", EPOCH)
    expected = merged_file(find_events(hits, "coincidence:50ns,A[5ns,40ns]>=2", EPOCH, detector=known), True)
    found = read_merged(run.merged)
    assert_same({name: found[name] for name in expected}, expected)
    done = eventloom("run", "gen:poisson", "--tick", "100ps", "--group", "A=channel:0", "--define",
                     "coincidence:50ns,A[5ns,40]>=2", "--output", tmp_path / "none.h5", code=2)
    assert "'5ns,40' ends before it begins" in done.stderr


def test_a_stopped_run_continues(tmp_path, recording):
    uris, hits, words, known = recording
    definition = filled(CONDITIONS[1][0], recording)
    options = ["run", *[w for uri in uris for w in ("--source", uri)], *words, "--define", definition, "--overlap", EPOCH,
               "--epochs-per-slice", 3, "--segment-size", "20KiB", "--output", tmp_path / "run.h5"]
    eventloom(*options, "--speed", 0.02, "--duration", "200ms", np=2, code=75)
    eventloom(*options, "--resume", np=3)
    eventloom("merge", tmp_path / "run.h5", "--output", tmp_path / "merged.h5")
    expected = merged_file(find_events(hits, definition, EPOCH, detector=known), True)
    found = read_merged(tmp_path / "merged.h5")
    assert_same({name: found[name] for name in expected}, expected)


def test_explain_prints_real_numbers(tmp_path, recording):
    uris, hits, words, known = recording
    text = "sum(A)>=-1e3 && max(none)<1 || order(A,B)"
    run = Run(tmp_path, uris, *words, "--define", "gap:60,4", "--filter", text, "--explain", 5)
    events = find_events(hits, "gap:60,4", EPOCH)
    lines = run.done.stdout.splitlines()
    for number, (b, e) in enumerate(list(zip(events.begin, events.end))[:5]):
        event, condition = hits.part(b, e), Expression(text, known)
        total, order = condition.value(event, "sum(A)"), condition.value(event, "order(A,B)")
        assert lines[5 * number + 1].endswith(": holds" if order else ": does not hold")
        shown = lines[5 * number + 2]
        assert shown.startswith(f"    sum(A)>=-1e3: {'yes' if total >= -1000 else 'no'} (sum(A) = ")
        assert float(shown.rpartition("= ")[2].rstrip(")")) == total
        assert lines[5 * number + 3] == "    max(none)<1: no (max(none) is not known)"
        assert lines[5 * number + 4] == f"    order(A,B): {'yes' if order else 'no'} (order(A,B) = {order})"


MISTAKES = [
    ("A{5..3}>=1", "has its low end above its high end", "  ^^^^"),
    ("A{5-3}>=1", "expected a range of values", "  ^^^"),
    ("A{nan..inf}>=1", "'nan' is not a number", "  ^^^"),
    ("A{1..2>=1", "'{' is not closed", " ^"),
    ("A[120ns,-50ns]>=1", "ends before it begins", "  ^^^^^^^^^^^"),
    ("A[-50ns]>=1", "expected two times", "       ^"),
    ("A[-50xs,3]>=1", "'50xs'", "  ^^^^^"),
    ("sum(C)>=1", "neither a quantity nor a group", "    ^"),
    ("sum(n_hits)>=1", "is not a group", "    ^^^^^^"),
    ("sum A>=1", "expected '(' as in sum(A)", "    ^"),
    ("sum(A)>=x", "'x' is not a number", "        ^"),
    ("order(A)", "expected ',' as in order(A,B)", "       ^"),
    ("order(A,B)>=1", "expected && or ||", "          ^"),
    ("A{1..2}{3..4}>=1", "a second '{'", "       ^"),
]


@pytest.mark.parametrize("text, word, marks", MISTAKES, ids=[text for text, _, _ in MISTAKES])
def test_mistakes_are_marked(tmp_path, recording, text, word, marks):
    uris, _, words, _ = recording
    for option, before in (("--filter", ""), ("--define", "coincidence:50ns,")):
        rest = [] if option == "--define" else ["--define", "gap:25,4"]
        done = eventloom("run", uris[0], *words[2:], *rest, option, before + text, "--output", tmp_path / "run.h5", code=2)
        lines = done.stderr.splitlines()
        assert word in done.stderr and len(lines) == 3, done.stderr
        at = next(i for i, c in enumerate(marks) if c == "^")
        assert lines[1][2:] == before + text
        assert lines[2][2 + len(before):2 + len(before) + at].strip() == "" and lines[2][2 + len(before) + at] == "^"


def test_values_need_payload(tmp_path, recording):
    uris, _, words, _ = recording
    for options in (["--define", "coincidence:50ns,sum(A)>=3"], ["--define", "gap:25,4", "--filter", "A{1..2}>=1"]):
        done = eventloom("run", uris[-1], *words[2:], *options, "--output", tmp_path / "run.h5", code=2)
        assert "needs the values of hits, and no source of this run has payload" in done.stderr


def test_without_a_map_the_value_is_the_word(tmp_path, recording):
    uris, hits, _, _ = recording
    text = f"max(source:0-3)>={2**31}"
    run = Run(tmp_path, uris, "--define", "gap:60,4", "--filter", text)
    raw = hits.take(np.arange(len(hits)))
    first = np.cumsum(raw.payload_words, dtype=np.int64) - raw.payload_words
    raw.value = np.full(len(raw), np.nan)
    raw.value[raw.payload_words > 0] = raw.payload[first[raw.payload_words > 0]]
    expected = merged_file(find_events(raw, "gap:60,4", EPOCH, [text]), True)
    assert_same(read_merged(run.merged), expected)
    with h5py.File(run.merged) as file:
        assert "value" not in file["hits"]
