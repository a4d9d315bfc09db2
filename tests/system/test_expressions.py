"""Definitions and filters in the language of expressions: compared with the serial reference, and their messages to
users."""

import h5py
import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from expressions import Detector, Expression
from program import DATA, Run, eventloom, generate
from reference import find_events, ledger, merged_file, weave
from results import assert_balanced, assert_same, ledger_rows, read_ledger, read_merged

EPOCH = 10_000


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    uris = generate(tmp_path_factory.mktemp("streams"), sources=5, rate=20_000, timing="poisson", hits=8, width="50ns",
                    noise=100_000, duration="10ms", payload=1, channels=32, seed=15)
    return uris, weave([hits_of_file(read_epochs_file(uri.removeprefix("file:"))) for uri in uris])


def assert_reference(run, hits, definition, filters, per_slice, detector=None):
    events = find_events(hits, definition, EPOCH, filters, detector=detector)
    assert_same(read_merged(run.merged), merged_file(events, with_payload=True))
    account = read_ledger(run.output)
    assert_balanced(account)
    assert ledger_rows(account) == ledger(events, per_slice * EPOCH)
    return events


def filter_words(filters):
    return [word for expression in filters for word in ("--filter", expression)]


@pytest.mark.parametrize("per_slice, filter_ranks, np", [(1, 0, None), (7, 2, 3), (1000, 1, 2)])
@pytest.mark.parametrize("definition, filters", [
    ("gap:60,4,100,40", []),
    ("gap:60ns,3,0,300ns", ["n_hits>=8 || sources>=4"]),
    ("coincidence:50ns,sources>=3", []),
    ("coincidence:40,n_hits>=4 && source:0-2>=2,30ns,60ns", ["!(duration<60) && (systems==1 || n_hits>9)"]),
    ("coincidence:0,n_hits>=2,5,5", ["source:1-3>=1", "channel:0x0-0x3ff>=1"]),
])
def test_equals_the_reference(tmp_path, recording, definition, filters, per_slice, filter_ranks, np):
    uris, hits = recording
    run = Run(tmp_path, uris, "--define", definition, *filter_words(filters), "--filters", filter_ranks,
              "--epochs-per-slice", per_slice, np=np)
    events = assert_reference(run, hits, definition, filters, per_slice)
    assert len(events.begin) > 20


GROUPS = {"A": [(0, 0, 0xFFFFFFF), (1, 0, 0xFFFFFFF)], "B": [(None, 0x400010, 0x80000F)],
          "veto": [(None, 0xC00004, 0xC00005), (4, 0x1000000, 0x1000003)], "none": [(None, 0xFFFFFF0, 0xFFFFFFF)]}
GROUP_WORDS = [word for text in ("A=source:0-1", "B=channel:0x400010-0x80000f", "veto=channel:0xc00004-0xc00005",
                                 "none=channel:0xffffff0-0xfffffff") for word in ("--group", text)]


@pytest.fixture(scope="module")
def detector(tmp_path_factory):
    """Groups from both kinds of options, and channels at random places."""
    draw = np.random.default_rng(15)
    places = {(source, source << 22 | channel): tuple(draw.uniform(0, 12, 3).round(2).tolist())
              for source in range(5) for channel in range(28)}
    rows = ["source,channel,group,x_m,y_m,z_m", "4,0x1000000-0x1000003,veto,,,"]
    rows += [f"{source},{channel},,{x},{y},{z}" for (source, channel), (x, y, z) in places.items()]
    path = tmp_path_factory.mktemp("map") / "map.csv"
    path.write_text("\n".join(rows) + "\n")
    return ["--detector", path, *GROUP_WORDS], Detector(GROUPS, places)


@pytest.mark.parametrize("per_slice, filter_ranks, np_", [(1, 2, None), (13, 0, 3)])
@pytest.mark.parametrize("definition, filters", [
    ("coincidence:50ns,A>=1 && B>=2 && veto==0", []),
    ("coincidence:30,none==0 && (A>=3 || veto>=1 && B>=4),20,70", ["A>=2 || none>=1", "causal(0.3m/ns,10ns)>=3"]),
    ("coincidence:60,causal(0.2,5ns)>=3 && A>=1", ["!(veto>=2)"]),
    ("coincidence:50,none>=1,10,10", []),
    ("gap:60,3", ["causal(0.7c,1ns)<3 || B>=4"]),
])
def test_groups_and_positions(tmp_path, recording, detector, definition, filters, per_slice, filter_ranks, np_):
    uris, hits = recording
    words, known = detector
    run = Run(tmp_path, uris, *words, "--define", definition, *filter_words(filters), "--filters", filter_ranks,
              "--epochs-per-slice", per_slice, np=np_)
    events = assert_reference(run, hits, definition, filters, per_slice, known)
    assert (len(events.begin) > 20) == ("none>=1" not in definition)


def test_each_filter_counts_all_events(tmp_path, recording):
    uris, hits = recording
    filters = ["n_hits>=6", "sources>=3 && duration>10ns", "n_hits<9"]
    run = Run(tmp_path, uris, "--define", "gap:60,2", *filter_words(filters), "--filters", 2, "--segment-size", "64KiB", np=3)
    events = find_events(hits, "gap:60,2", EPOCH)
    expected = []
    for text in filters:
        held = sum(Expression(text).holds(hits.part(b, e)) for b, e in zip(events.begin, events.end))
        expected.append({"expression": text, "accepted": held, "rejected": len(events.begin) - held})
    assert run.report()["per_filter"] == expected
    for one in expected:
        assert f"filter '{one['expression']}': {one['accepted']} events accepted, {one['rejected']} rejected\n" in run.done.stdout
    for path in (run.output, run.merged):
        with h5py.File(path) as file:
            assert file.attrs["filters_accepted"].tolist() == [one["accepted"] for one in expected]
            assert file.attrs["filters_rejected"].tolist() == [one["rejected"] for one in expected]


@pytest.mark.parametrize("options, np", [([], None), (["--filters", 3, "--epochs-per-slice", 1], 4)])
def test_explain_lists_the_first_events(tmp_path, recording, options, np):
    uris, hits = recording
    text = "n_hits>=6 || (sources >= 3 && duration<60ns)"
    run = Run(tmp_path, uris, "--define", "gap:60,2", "--filter", text, "--explain", 12, *options, np=np)
    events = find_events(hits, "gap:60,2", EPOCH)
    lines = []
    for b, e in list(zip(events.begin, events.end))[:12]:
        event, condition = hits.part(b, e), Expression(text)
        n, sources, duration = (condition.value(event, what) for what in ("n_hits", "sources", "duration"))
        holds = condition.holds(event)
        time = int(event.time[0])
        lines += [f"event {time} ({time_text(time)}), {n} hits: {'accepted' if holds else 'rejected'}",
                  f"  {text}: {'holds' if holds else 'does not hold'}",
                  f"    n_hits>=6: {'yes' if n >= 6 else 'no'} (n_hits = {n})",
                  f"    sources>=3: {'yes' if sources >= 3 else 'no'} (sources = {sources})",
                  f"    duration<60ns: {'yes' if duration < 60 else 'no'} (duration = {time_text(duration)})"]
    assert run.done.stdout.splitlines()[:len(lines)] == lines


def time_text(ns):
    """The time as options accept it: in the largest unit that leaves no remainder, or as a fraction."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns >= size:
            return f"{ns / size:.9f}".rstrip("0").rstrip(".") + unit
    return f"{ns}ns"


MISTAKES = [
    (["--define", "gpa:25,4"], "did you mean 'gap'?", "^^^"),
    (["--define", "gap:25,4xs"], "'4xs' is not a whole number", "       ^^^"),
    (["--define", "gap:25,4,3"], "post is missing", "          ^"),
    (["--define", "coincidence:50ns,n_hits>=2 && n_hist<9"], "did you mean 'n_hits'?", " " * 30 + "^^^^^^"),
    (["--define", "coincidence:50ns,prescale=2"], "move it to --filter", " " * 17 + "^" * 8),
    (["--filter", "n_hits>=8 & sources>=2"], "write && for '&'", " " * 10 + "^"),
    (["--filter", "(n_hits>=8"], "is not closed", "^"),
]


@pytest.mark.parametrize("np", [None, 2])
@pytest.mark.parametrize("options, word, marks", MISTAKES, ids=[o[1] for o, _, _ in MISTAKES])
def test_mistakes_are_marked_below_their_text(tmp_path, recording, options, word, marks, np):
    define = [] if options[0] == "--define" else ["--define", "gap:25,4"]
    done = eventloom("run", recording[0][0], *define, *options, "--output", tmp_path / "run.h5", np=np, code=2)
    lines = done.stderr.partition("-----")[0].splitlines()  # mpirun's own message follows a rule
    assert len(lines) == 3 and word in lines[0] and lines[0].startswith("eventloom run: "), done.stderr
    assert lines[1:] == ["  " + options[1], "  " + marks]
    assert done.stdout == "" and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments, guess", [
    (["rnu"], "run"), (["run", "--filtr", "n_hits>=2"], "--filter"), (["bench", "latncy"], "latency"),
    (["run", "cvs:a.csv?time=1", "--define", "tag"], "csv"),
    (["run", "gen:poisson?raet=1e6", "--define", "tag"], "rate"),
    (["run", "gen:posson?rate=1e6", "--define", "tag"], "poisson"),
    (["run", "gen:poisson?rate=1e6&duration=1ms", "--define", "tag", "--schedule", "chaotik"], "chaotic"),
    (["run", "gen:poisson?rate=1e6&duration=1ms", "--define", "tag", "--progress", "barr"], "bar"),
    (["run", "gen:poisson?rate=1e6&duration=1ms", "--define", "tag", "--alarm", "stalld>5s"], "stalled"),
])
def test_messages_guess_what_was_meant(tmp_path, arguments, guess):
    done = eventloom(*arguments, code=2, cwd=tmp_path)
    assert f"(did you mean '{guess}'?)" in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("text, word", [("trigger==3", "no source"), ("causal(0.3m/ns,20ns)>=4", "--detector")])
def test_what_the_input_does_not_have_is_refused(tmp_path, recording, text, word):
    done = eventloom("run", *recording[0], "--define", "gap:25,4", "--filter", text, "--output", tmp_path / "run.h5", code=2)
    line, *marked = done.stderr.splitlines()
    asked = text.partition("=")[0].partition("(")[0]
    assert word in line and marked == ["  " + text, "  " + "^" * len(asked)], done.stderr


def test_explain_needs_a_filter(recording):
    done = eventloom("run", recording[0][0], "--define", "tag", "--explain", 3, code=2)
    assert "--explain" in done.stderr and "--filter" in done.stderr


def test_triggers_of_list_mode_data(tmp_path):
    """The events of each trigger type of a recording, and those without any, are all events together."""
    source = "lmd:" + str(DATA / "lmd" / "classic_16k.lmd") + "?time=tag"
    run = Run(tmp_path / "all", [source], "--define", "tag", code=None)
    with h5py.File(run.merged) as file:
        first = file["hits/first_payload"][:-1].astype(int)
        words = np.diff(file["hits/first_payload"][:].astype(int))
        events = file["events/first_hit"][:-1].astype(int)
        types = np.where(words[events] > 1, file["payload"][:][np.minimum(first[events] + 1, len(file["payload"]) - 1)] >> 16, -1)
        times = file["events/time"][:]
    assert len(np.unique(types)) >= 1
    for trigger in np.unique(types[types >= 0]):
        found = Run(tmp_path / str(trigger), [source], "--define", "tag", "--filter", f"trigger=={trigger}", code=None)
        with h5py.File(found.merged) as file:
            assert np.array_equal(file["events/time"][:], times[types == trigger])
