"""Histograms filled while events are built, compared with loops over all events and all pairs of their hits."""

import itertools
import json
import os
import re
import subprocess

import h5py
import numpy as np
import pytest

from page import document_of
from program import Run, eventloom, only_line
from readers import PYTHON, needs_readers

SPAN = 2_000_000  # ns
GAP = 100
GAIN, ZERO = 0.25, -3.0
NAMES = {"A": range(0, 4), "B": range(3, 7), "all": range(0, 10)}
GROUPS = ["--group", "A=channel:0-3", "--group", "B=channel:3-6", "--group", "all=channel:0-9"]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Three sources of ten channels in overlapping groups: (URIs, hits as time, channel and value, options)."""
    folder = tmp_path_factory.mktemp("hits")
    choose = np.random.default_rng(23)
    hits = []
    for source in range(3):
        bursts = choose.integers(1000, SPAN, 250)
        times = np.sort(np.concatenate([choose.integers(0, SPAN, 2500), *(b + choose.integers(0, 80, 5) for b in bursts)]))
        channels, energies = choose.integers(0, 10, len(times)), choose.integers(-200, 4000, len(times))
        (folder / f"s{source}.csv").write_text(
            "time_ns,channel,energy\n" + "".join(f"{t},{c},{e}\n" for t, c, e in zip(times, channels, energies)))
        hits += [(int(t), source, i, int(c), GAIN * int(e) + ZERO) for i, (t, c, e) in enumerate(zip(times, channels, energies))]
    hits.sort()
    (folder / "map.csv").write_text(f"source,channel,gain,zero,unit\n,,{GAIN},{ZERO},keV\n")
    uris = [f"csv:{folder}/s{source}.csv?payload=energy" for source in range(3)]
    return uris, [(t, c, v) for t, _, _, c, v in hits], ["--detector", folder / "map.csv", *GROUPS]


def events_of(hits):
    """Groups of at least two hits, none more than GAP after the previous one."""
    events = [[hits[0]]]
    for hit in hits[1:]:
        if hit[0] - events[-1][-1][0] > GAP:
            events.append([])
        events[-1].append(hit)
    return [event for event in events if len(event) >= 2]


def of(event, group):
    return [(i, hit) for i, hit in enumerate(event) if hit[1] in NAMES[group]]


def pairs(event, first, second):
    return [(a, b) for (i, a), (j, b) in itertools.product(of(event, first), of(event, second)) if i != j]


def binned(numbers, axes):
    """(counts, underflow, overflow); an entry outside both axes counts where the first one puts it."""
    counts, under, over = np.zeros([bins for _, _, bins in axes], np.int64), 0, 0
    edges = [np.linspace(low, high, bins + 1) for low, high, bins in axes]
    for point in numbers:
        place = [int(np.searchsorted(e, x, side="right")) - 1 for e, x in zip(edges, point)]
        outside = [(-1 if p < 0 else 1) for p, e in zip(place, edges) if p < 0 or p >= len(e) - 1]
        if outside:
            under, over = under + (outside[0] < 0), over + (outside[0] > 0)
        else:
            counts[tuple(place)] += 1
    return counts, under, over


# name, option, axes, entries of an event (or of a hit, for all hits)
EVENTS = {
    "energy": ("value(A):0..1000/64", [(0, 1000, 64)], lambda e: [(h[2],) for _, h in of(e, "A")]),
    "part": ("value(A{10..500}):100..400/7", [(100, 400, 7)], lambda e: [(h[2],) for _, h in of(e, "A") if 10 <= h[2] <= 500]),
    "dt": ("dt(A,B):-60..60/30", [(-60, 60, 30)], lambda e: [(b[0] - a[0],) for a, b in pairs(e, "A", "B")]),
    "late": ("dt(all,all):0.02us..0.3us/28", [(0.02, 0.3, 28)], lambda e: [((b[0] - a[0]) / 1000,) for a, b in pairs(e, "all", "all")]),
    "early": ("dt(A,all):-90..-1/9", [(-90, -1, 9)], lambda e: [(b[0] - a[0],) for a, b in pairs(e, "A", "all")]),
    "size": ("n_hits:0..12/12", [(0, 12, 12)], lambda e: [(len(e),)]),
    "length": ("duration:0..1us/20", [(0, 1000, 20)], lambda e: [(e[-1][0] - e[0][0],)]),
    "when": ("time:0.1ms..1.9ms/18", [(0.1, 1.9, 18)], lambda e: [(e[0][0] / 1e6,)]),
    "where": ("channel:2..8/6", [(2, 8, 6)], lambda e: [(h[1],) for h in e]),
    "matrix": ("value(A):0..1000/10;value(B):0..500/20", [(0, 1000, 10), (0, 500, 20)],
               lambda e: [(a[2], b[2]) for a, b in pairs(e, "A", "B")]),
    "same": ("value(A):0..1000/10;value(A):0..500/4", [(0, 1000, 10), (0, 500, 4)],
             lambda e: [(a[2], b[2]) for a, b in pairs(e, "A", "A")]),
    "walk": ("dt(A,B):-60..60/12;value(B):0..500/5", [(-60, 60, 12), (0, 500, 5)],
             lambda e: [(b[0] - a[0], b[2]) for a, b in pairs(e, "A", "B")]),
    "first": ("value(A):0..500/5;dt(A,B):-60..60/12", [(0, 500, 5), (-60, 60, 12)],
              lambda e: [(a[2], b[0] - a[0]) for a, b in pairs(e, "A", "B")]),
    "spectra": ("channel:0..4/4;value(all):0..1000/10", [(0, 4, 4), (0, 1000, 10)], lambda e: [(h[1], h[2]) for h in e]),
    "cross": ("channel:0..10/10;channel:0..10/10", [(0, 10, 10), (0, 10, 10)],
              lambda e: [(a[1], b[1]) for a, b in pairs(e, "all", "all")]),
    "sizes": ("n_hits:2..9/7;duration:0..500/5", [(2, 9, 7), (0, 500, 5)], lambda e: [(len(e), e[-1][0] - e[0][0])]),
    "gated": ("value(B):0..1000/8 if A>=1 && n_hits>=3", [(0, 1000, 8)],
              lambda e: [(h[2],) for _, h in of(e, "B")] if of(e, "A") and len(e) >= 3 else []),
}
HITS = {
    "raw": ("value(A):-100..1100/120@hits", [(-100, 1100, 120)], lambda h: [(h[2],)] if h[1] in NAMES["A"] else []),
    "rate": ("channel:0..10/10;time:0..2ms/4@hits", [(0, 10, 10), (0, 2e6, 4)], lambda h: [(h[1], h[0])]),
    "high": ("channel:0..10/10 if all{500..999}>=1 @hits", [(0, 10, 10)], lambda h: [(h[1],)] if 500 <= h[2] <= 999 else []),
}


def options(names):
    """Options for these histograms."""
    return [word for name in names for word in ("--hist", f"{name}={({**EVENTS, **HITS}[name])[0]}")]


def expected(hits, name, events=None):
    if name in HITS:
        _, axes, entries = HITS[name]
        return binned([point for hit in hits for point in entries(hit)], axes)
    _, axes, entries = EVENTS[name]
    return binned([point for event in events_of(hits) if events is None or events(event) for point in entries(event)], axes)


def assert_histogram(path, name, wanted):
    counts, under, over = wanted
    with h5py.File(path) as file:
        group = file["histograms"][name]
        assert np.array_equal(group["counts"][()], counts), name
        assert (group.attrs["underflow"], group.attrs["overflow"]) == (under, over), name
        assert group.attrs["entries"] == counts.sum() + under + over
        axes = {**EVENTS, **HITS}[name][1]
        for number, (low, high, bins) in enumerate(axes):
            assert np.array_equal(group[f"edges_{number}"][()], np.linspace(low, high, bins + 1)), name


@pytest.fixture(scope="module")
def wanted(recording):
    return {name: expected(recording[1], name) for name in {**EVENTS, **HITS}}


@pytest.mark.parametrize("how", [dict(), dict(np=3), dict(np=3, extra=["--builders", 2, "--filters", 1]),
                                 dict(np=2, extra=["--segment-size", "20000", "--schedule", "chaotic"])])
def test_all_quantities(recording, wanted, tmp_path, how):
    uris, _, detector = recording
    run = Run(tmp_path, uris, "--define", f"gap:{GAP}ns,2", *detector, *options(wanted), "--epochs-per-slice", 7,
              *how.get("extra", []), np=how.get("np"))
    for name, histogram in wanted.items():
        assert_histogram(run.output, name, histogram)
        assert_histogram(run.merged, name, histogram)
    with h5py.File(run.output) as file:
        assert file["histograms/energy/edges_0"].attrs["units"] == "keV"
        assert file["histograms/dt/edges_0"].attrs["units"] == "ns"
        assert file["histograms/when/edges_0"].attrs["units"] == "ms"
        assert file["histograms/matrix"].attrs["quantity"] == "value(A);value(B)"
    assert eventloom("inspect", run.output).returncode == 0


def test_of_kept_events(recording, tmp_path):
    """Filters select the events of histograms, but not the hits of those over all hits; each definition has its own."""
    uris, hits, detector = recording
    run = Run(tmp_path, uris, "--define", f"gap:{GAP}ns,2", "--filter", "n_hits>=4", *detector,
              *options(["energy", "dt", "raw"]), np=2)
    for name in ("energy", "dt", "raw"):
        assert_histogram(run.merged, name, expected(hits, name, lambda event: len(event) >= 4))
    folder = tmp_path / "two"
    folder.mkdir()
    words = [word for uri in uris for word in ("--source", uri)]
    eventloom("run", *words, "--define", f"any=gap:{GAP}ns,2", "--define", f"many=gap:{GAP}ns,5", *detector,
              *options(["size", "raw"]), "--output", folder / "run.h5", np=2)
    assert_histogram(folder / "run.any.h5", "size", expected(hits, "size"))
    assert_histogram(folder / "run.many.h5", "size", expected(hits, "size", lambda event: len(event) >= 5))
    assert_histogram(folder / "run.many.h5", "raw", expected(hits, "raw"))
    only_line(eventloom("hist", folder / "run.h5", code=2), "run.many.h5")
    only_line(eventloom("hist", folder / "run.any.part-0000-0000.h5", code=2), "one part of a run")


def test_interrupted_and_resumed(recording, wanted, tmp_path):
    """Each slice counts once, in whichever part it is; other histograms make another setup."""
    uris, _, detector = recording
    words = ["--define", f"gap:{GAP}ns,2", *detector, *options(wanted), "--epochs-per-slice", 7, "--segment-size", "20000"]
    sources = [word for uri in uris for word in ("--source", uri)]
    begin = ["run", *sources, *words, "--output", tmp_path / "run.h5"]
    eventloom(*begin, "--speed", "0.001", "--duration", "500ms", np=2, code=75)
    only_line(eventloom("hist", tmp_path / "run.h5", code=2), "the run has not ended")
    refused = eventloom(*begin, "--hist", "more=n_hits:0..5/5", "--resume", code=2)
    assert "--hist was" in refused.stderr
    run = Run(tmp_path, uris, *words, "--resume", np=3)
    with h5py.File(run.output) as file:
        assert len(file["parts/segment"]) > 4, "parts of both invocations"
    for name, histogram in wanted.items():
        assert_histogram(run.output, name, histogram)
        assert_histogram(run.merged, name, histogram)


def test_without_histograms(recording, tmp_path):
    uris, _, detector = recording
    run = Run(tmp_path, uris, "--define", f"gap:{GAP}ns,2", *detector)
    with h5py.File(run.output) as file:
        assert "histograms" not in file and "histograms" not in file.attrs
    only_line(eventloom("hist", run.output, code=2), "no histograms", "--hist")


def test_a_damaged_part_is_built_again(recording, wanted, tmp_path):
    """`inspect` names it, and --resume does not use it."""
    uris, _, detector = recording
    words = ["--define", f"gap:{GAP}ns,2", *detector, *options(["size", "raw"]), "--epochs-per-slice", 7, "--segment-size", "20000"]
    sources = [word for uri in uris for word in ("--source", uri)]
    eventloom("run", *sources, *words, "--output", tmp_path / "run.h5", "--speed", "0.001", "--duration", "500ms", code=75)
    part = sorted(tmp_path.glob("run.part-*.h5"))[0]
    with h5py.File(part, "a") as file:
        file["histograms/raw/counts"][0] += 1
    assert "/histograms/raw/counts" in eventloom("inspect", part, code=3).stdout
    run = Run(tmp_path, uris, *words, "--resume", code=None)
    for name in ("size", "raw"):
        assert_histogram(run.merged, name, wanted[name])
    with h5py.File(run.output, "a") as file:
        file["histograms/raw/counts"][0] += 1
    assert "/histograms/raw/counts" in eventloom("inspect", run.output, code=3).stdout


@pytest.fixture(scope="module")
def finished(recording, tmp_path_factory):
    uris, _, detector = recording
    return Run(tmp_path_factory.mktemp("run"), uris, "--define", f"gap:{GAP}ns,2", *detector,
               *options(["energy", "matrix", "raw"]))


@pytest.mark.parametrize("merged", [False, True])
def test_shown(finished, wanted, tmp_path, merged):
    """As text, JSON and CSV; run.h5 alone is enough."""
    file = tmp_path / "lonely.h5"
    file.write_bytes((finished.merged if merged else finished.output).read_bytes())
    every = eventloom("hist", file).stdout
    counts, under, over = wanted["energy"]
    assert f"energy: {counts.sum() + under + over} entries, {under} below and {over} above the range" in every
    middle = np.linspace(0, 1000, 65)[:-1] + 1000 / 128
    weights = counts.astype(float)
    mean = np.average(middle, weights=weights)
    assert f"value(A): mean {mean:.6g} keV" in every
    assert f"standard deviation {np.sqrt(np.average((middle - mean) ** 2, weights=weights)):.4g} keV" in every
    one = eventloom("hist", file, "energy").stdout.splitlines()
    bars = [line for line in one if " up to " in line]
    assert [int(line[31:].split()[0]) for line in bars] == counts.reshape(32, 2).sum(axis=1).tolist()
    listed = {entry["name"]: entry for entry in json.loads(eventloom("hist", file, "--json").stdout)["histograms"]}
    assert list(listed) == ["energy", "matrix", "raw"]
    for name, entry in listed.items():
        assert np.array_equal(entry["counts"], wanted[name][0]) and (entry["underflow"], entry["overflow"]) == wanted[name][1:]
    rows = eventloom("hist", file, "matrix", "--csv").stdout.splitlines()
    assert rows[0] == "low_0,high_0,low_1,high_1,count" and rows[1].startswith("0,100,0,25,")
    assert [int(row.split(",")[-1]) for row in rows[1:]] == wanted["matrix"][0].ravel().tolist()
    only_line(eventloom("hist", file, "--csv", code=2), "give its NAME")
    only_line(eventloom("hist", file, "enrgy", code=2), "did you mean 'energy'")


def test_pictures(finished, tmp_path):
    for options_of, ending in ([], "png"), (["--log"], "png"), (["matrix"], "svg"), (["matrix", "--log"], "png"):
        path = tmp_path / f"{len(options_of)}{'-'.join(options_of)}.{ending}"
        eventloom("hist", finished.output, *options_of, "--png", path)
        assert path.read_bytes()[:4] == (b"\x89PNG" if ending == "png" else b"<?xm")
    text = tmp_path / "notes.png"
    text.write_text("mine")
    eventloom("hist", finished.output, "--png", text, code=2)
    assert text.read_text() == "mine"
    content = finished.output.read_bytes()
    eventloom("hist", finished.output, "--png", finished.output, code=2)
    assert finished.output.read_bytes() == content


def test_in_the_report(finished, wanted, tmp_path):
    eventloom("report", finished.output, "--output", tmp_path / "report.html", "--png", tmp_path / "png")
    spectra = {entry["name"]: entry for entry in document_of(tmp_path / "report.html")["spectra"]}
    assert np.array_equal(spectra["energy"]["counts"], wanted["energy"][0])
    assert np.array_equal(spectra["matrix"]["counts"], wanted["matrix"][0])
    assert {"hist-energy.png", "hist-matrix.png", "hist-raw.png"} <= {path.name for path in (tmp_path / "png").iterdir()}


def test_in_python(package, finished, wanted):
    for file in (finished.output, finished.merged):
        with package.open(file) as run:
            assert list(run.histograms) == ["energy", "matrix", "raw"]
            for name, histogram in run.histograms.items():
                counts, under, over = wanted[name]
                assert np.array_equal(histogram.counts, counts) and (histogram.underflow, histogram.overflow) == (under, over)
            energy, matrix = run.histograms["energy"], run.histograms["matrix"]
            assert (energy.quantities, energy.units) == (("value(A)",), ("keV",))
            assert matrix.quantities == ("value(A)", "value(B)") and len(matrix.edges) == 2


AS_OTHERS = """
import json, sys, eventloom, boost_histogram, hist, uproot
run = eventloom.open(sys.argv[1])
energy, matrix = run.histograms["energy"], run.histograms["matrix"]
assert isinstance(energy.to_boost(), boost_histogram.Histogram) and isinstance(energy.to_hist(), hist.Hist)
assert energy.to_hist().axes[0].label == "value(A) [keV]"
with uproot.recreate(sys.argv[2]) as file:
    file["energy"], file["matrix"] = energy.to_hist(), matrix.to_hist()
with uproot.open(sys.argv[2]) as file:
    found = {name: file[name].values(flow=True).astype(int).tolist() for name in ("energy", "matrix")}
    found["edges"] = file["energy"].axis().edges().tolist()
print(json.dumps({**found, "boost": energy.to_boost().values(flow=True).tolist(), "hist": matrix.to_hist().values().tolist()}))
"""


@needs_readers
def test_in_boost_hist_and_root(installed, finished, wanted, tmp_path):
    done = subprocess.run([PYTHON, "-B", "-c", AS_OTHERS, finished.output, tmp_path / "h.root"],
                          env=os.environ | {"PYTHONPATH": str(installed)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    counts, under, over = wanted["energy"]
    assert found["boost"] == found["energy"] == [under, *counts.tolist(), over]
    assert found["hist"] == wanted["matrix"][0].tolist()
    assert np.array_equal(np.array(found["matrix"])[1:-1, 1:-1], wanted["matrix"][0])
    assert np.allclose(found["edges"], np.linspace(0, 1000, 65))


def test_damage_is_found(finished, tmp_path):
    """No flipped byte of the file changes a displayed number."""
    file = tmp_path / "run.h5"
    content = finished.output.read_bytes()
    good = eventloom("hist", finished.output, "--json").stdout
    choose = np.random.default_rng(5)
    for at in [*choose.integers(0, len(content), 60), *(found.start() for found in re.finditer(rb"value\(", content))]:
        damaged = bytearray(content)
        damaged[at] ^= 1 << int(choose.integers(0, 8))
        file.write_bytes(damaged)
        done = eventloom("hist", file, "--json", code=None)
        assert done.returncode == 2 or done.stdout == good, at


@pytest.mark.parametrize("text, words", [
    ("n_hits:0..1/2", "it needs a name"),
    ("x=value(C):0..1/2", "'C'"),
    ("x=valu(A):0..1/2", "did you mean 'value'"),
    ("x=value(A):0..1us/2", "no time"),
    ("x=dt(A,B):-100..100us/2", "only one end"),
    ("x=dt(A):0..1/2", "dt(A,B)"),
    ("x=n_hits:5..1/2", "does not rise"),
    ("x=n_hits:0..nan/2", "not a number"),
    ("x=n_hits:0..1/0", "number of bins"),
    ("x=n_hits:0..1/16777217", "number of bins"),
    ("x=n_hits:0..1/5000;duration:0..1/5000", "more than 16777216"),
    ("x=n_hits:0..1", "as in n_hits:0..100/50"),
    ("x=n_hits:0..1/2;", "no quantity"),
    ("x=n_hits:0..1/2;n_hits:0..1/2;n_hits:0..1/2", "unexpected"),
    ("x=dt(A,B):0..1/2;value(all):0..1/2", "more than two hits"),
    ("x=value(all):0..1/2;dt(A,B):0..1/2", "value is that of A or B"),
    ("x=dt(A,B):0..1/2;dt(A,B):0..1/2", "can stand beside"),
    ("x=dt(A,B):0..1/2;channel:0..1/2", "cannot stand beside"),
    ("x=n_hits:0..1/2@hits", "leave out @hits"),
    ("x=value(A):0..1/2;value(B):0..1/2@hits", "more than one hit"),
    ("x=n_hits:0..1/2 if wrong>=1", "'wrong'"),
    ("x=channel:0..1/2 if duration>=1@hits", "duration"),
])
def test_mistakes(recording, tmp_path, text, words):
    uris, _, detector = recording
    done = eventloom("run", "--source", uris[0], "--define", "gap:1us,2", *detector, "--hist", text, "--output",
                     tmp_path / "run.h5", code=2)
    assert words in done.stderr.splitlines()[0] and done.stderr.startswith("eventloom run: --hist"), done.stderr
    assert not (tmp_path / "run.h5").exists()


def test_the_same_name_twice(recording, tmp_path):
    uris, _, detector = recording
    done = eventloom("run", "--source", uris[0], "--define", "gap:1us,2", *detector, "--hist", "x=n_hits:0..1/2", "--hist",
                     "x=channel:0..1/2", "--output", tmp_path / "run.h5", code=2)
    assert "the name is taken" in done.stderr


def test_values_need_payload(tmp_path):
    (tmp_path / "a.csv").write_text("time_ns,channel\n1,2\n5,2\n")
    done = eventloom("run", "--source", tmp_path / "a.csv", "--define", "gap:10ns,1", "--group", "A=channel:2", "--hist",
                     "x=value(A):0..1/2", "--output", tmp_path / "run.h5", code=2)
    assert "no source of this run has payload" in done.stderr


def test_setup_repeats_it(recording, wanted, tmp_path):
    """A configuration file keeps the options, including ; and blanks."""
    uris, _, detector = recording
    words = ["--define", f"gap:{GAP}ns,2", *detector, *options(["matrix", "gated", "high"])]
    sources = [word for uri in uris for word in ("--source", uri)]
    setup = eventloom("run", *sources, *words, "--output", tmp_path / "run.h5", "--print-config").stdout
    (tmp_path / "run.ini").write_text(setup)
    eventloom("run", "--config", tmp_path / "run.ini")
    for name in ("matrix", "gated", "high"):
        assert_histogram(tmp_path / "run.h5", name, wanted[name])
