"""`/histograms` of a run in progress: counts of all ranks so far, compared with those counted here."""

import json

import h5py
import numpy as np
import pytest

from interrupted import STOPPED
from monitored import Monitored
from program import Run

GAP = 100  # ns
SPAN = 400_000_000  # ns
DEFINE = ("--define", f"gap:{GAP}ns,2")
HISTS = {"size": "n_hits:0..8/8", "where": "channel:0..10/10@hits", "when": "time:0..400ms/800;channel:0..12/12@hits"}
BIG = {"plane": "time:0..400ms/4000;channel:0..4000/4000@hits", "long": "time:0..400ms/40000@hits"}


def words(hists):
    return [word for name, text in hists.items() for word in ("--hist", f"{name}={text}")]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Two sources: (URIs, times and channels of all hits by time)."""
    folder = tmp_path_factory.mktemp("hits")
    choose = np.random.default_rng(29)
    uris, hits = [], []
    for source in range(2):
        bursts = choose.integers(1000, SPAN - 1000, 4000)
        times = np.sort(np.concatenate([choose.integers(0, SPAN, 8000), bursts, bursts + choose.integers(1, 60, 4000)]))
        channels = choose.integers(0, 12, len(times))
        (folder / f"s{source}.csv").write_text("time_ns,channel\n" + "".join(f"{t},{c}\n" for t, c in zip(times, channels)))
        uris.append(f"csv:{folder}/s{source}.csv")
        hits += zip(times.tolist(), channels.tolist())
    return uris, np.array(sorted(hits))


def sizes_of(times):
    """Sizes of the events of at least two hits."""
    sizes = np.diff(np.flatnonzero(np.concatenate([[True], np.diff(times) > GAP, [True]])))
    return sizes[sizes >= 2]


def wanted(recording, least=2):
    """{name: (counts, underflow, overflow)}"""
    times, channels = recording[1].T
    sizes = sizes_of(times)
    sizes = sizes[sizes >= least]
    when = np.histogram2d(times, channels, [np.linspace(0, SPAN, 801), np.arange(13)])[0]
    return {"size": (np.bincount(sizes[sizes < 8], minlength=8), 0, np.count_nonzero(sizes >= 8)),
            "where": (np.bincount(channels[channels < 10], minlength=10), 0, np.count_nonzero(channels >= 10)),
            "when": (when.astype(int), 0, 0)}


def ask(run, name):
    code, headers, body = run.ask(f"/histograms/{name}")
    assert code == 200 and headers["Content-Type"] == "application/json"
    return json.loads(body)


def until_counted(run, name, condition=lambda reported: True):
    """The first answer with counts that satisfy the condition."""
    found = {}

    def holds(_):
        found.update(ask(run, name))
        return found["counts"] is not None and condition(found)
    run.until_status(holds, f"counts of {name}")
    return found


def until_final(run, names):
    """Keeps looking until the run has ended. It then waits until all histograms being viewed have been seen, and
    closes. Only those viewed earlier have counts then."""
    found = {}

    def holds(_):
        for name in names:
            if not found.get(name, {}).get("final"):
                found[name] = ask(run, name)
        return all(one["final"] for one in found.values())
    run.until_status(holds, "the final counts")
    return found


def looked_at(run, names):
    for name in names:
        until_counted(run, name)


def assert_reported(reported, counts, underflow, overflow):
    """Neighbouring bins may be joined, as the edges show."""
    bins = np.array(counts)
    for axis, of in enumerate(reported["axes"]):
        low, high = of["edges"][0], of["edges"][-1]
        at = np.rint((np.array(of["edges"]) - low) / (high - low) * bins.shape[axis]).astype(int)
        bins = np.add.reduceat(bins, at[:-1], axis=axis)
    assert np.array_equal(reported["counts"], bins), reported["name"]
    assert (reported["underflow"], reported["overflow"]) == (underflow, overflow)
    assert reported["entries"] == np.sum(counts) + underflow + overflow


def slowly(uris, folder, *options, define=DEFINE, **how):
    """80 s, so that it does not end before the test looks."""
    return Monitored(folder, uris, *define, *words(HISTS), "--speed", 0.005, "--epochs-per-slice", 40, *options, **how)


@pytest.mark.parametrize("how", [dict(), dict(np=3, extra=["--builders", 2, "--filters", 2, "--filter", "n_hits>=3"]),
                                 dict(np=2, extra=["--segment-size", "20000"])])
def test_counts_are_true(recording, tmp_path, how):
    """In a pause, the counts are those of the slices built; at the end, those of run.h5 and those counted here."""
    with slowly(recording[0], tmp_path / "run", *how.get("extra", []), np=how.get("np")) as run:
        run.held()
        listed = json.loads(run.ask("/histograms")[2])["histograms"]
        assert [one["name"] for one in listed] == list(HISTS) == [one["name"] for one in run.status()["spectra"]]
        assert listed[0]["axes"] == [{"quantity": "n_hits", "unit": "", "low": 0, "high": 8, "bins": 8}]
        assert [axis["bins"] for axis in listed[2]["axes"]] == [800, 12]
        run.proceed(speed=0.005)
        until_counted(run, "size", lambda reported: reported["entries"] > 3)
        assert run.control("pause")[0] == 202
        run.until_status(lambda s: s["state"] == "paused" and s["rates"]["hits_per_s"] == 0, "a standstill")
        for name, of in (("size", "events"), ("where", "hits_in"), ("when", "hits_in")):
            until_counted(run, name, lambda answer: 0 < answer["entries"] == run.status()["ledger"][of])
        run.proceed()
        found = until_final(run, HISTS)
        run.wait(0)
    assert_final(run, found, wanted(recording, 3 if "extra" in how and "--filter" in how["extra"] else 2))


def test_a_reset(recording, tmp_path):
    """The histograms of the monitor begin again from zero and say since when; run.h5 has every entry."""
    with slowly(recording[0], tmp_path / "run", np=2) as run:
        run.held()
        run.proceed(speed=0.005)
        until_counted(run, "size", lambda reported: reported["entries"] > 20)
        assert ask(run, "size")["since"] is None
        assert run.control("pause")[0] == 202
        run.until_status(lambda s: s["state"] == "paused" and s["rates"]["hits_per_s"] == 0, "a standstill")
        before = run.status()["ledger"]["events"]
        assert run.control("reset")[0] == 202
        zero = until_counted(run, "size", lambda reported: reported["since"])
        assert zero["entries"] == 0 and not any(zero["counts"])
        assert "begin again from zero" in run.text()
        run.proceed()
        found = until_final(run, ["size"])["size"]
        run.wait(0)
    counts, underflow, overflow = wanted(recording)["size"]
    total = int(np.sum(counts)) + underflow + overflow
    # Ranks report with a delay: slices that no report counted yet may have been built before the reset.
    reset = total - found["entries"]
    assert before <= reset < total and found["since"] == zero["since"]
    events = []  # (slice, hits)
    for path in run.folder.glob("run.part-*.h5"):
        with h5py.File(path) as file:
            events += zip(file["events/slice"][()], file["events/n_hits"][()])
    events.sort()
    assert events[reset - 1][0] < events[reset][0]
    sizes = [n_hits for _, n_hits in events[reset:]]
    assert np.array_equal(found["counts"], np.bincount(sizes, minlength=len(counts))[:len(counts)])
    with h5py.File(run.folder / "run.h5") as file:
        assert file["histograms/size"].attrs["entries"] == total
        assert np.array_equal(file["histograms/size/counts"][()], counts)


def test_a_reset_without_histograms(recording, tmp_path):
    with Monitored(tmp_path / "run", recording[0], *DEFINE, "--speed", 0.005) as run:
        run.held()
        code, reply = run.control("reset")
        assert code == 409 and "--hist" in reply["error"]


def assert_final(run, found, counts, definition=""):
    for name in HISTS:
        reported = found[f"{definition}/{name}" if definition else name]
        assert_reported(reported, *counts[name])
        with h5py.File(run.folder / (f"run.{definition}.h5" if definition else "run.h5")) as file:
            group = file[f"histograms/{name}"]
            assert np.array_equal(group["counts"][()], counts[name][0])
            assert reported["entries"] == group.attrs["entries"]


def test_each_definition_has_its_own(recording, tmp_path):
    """Histograms are named by definition, also when the run is resumed."""
    least = {"pair": 2, "triple": 3}
    define = [word for name, n in least.items() for word in ("--define", f"{name}=gap:{GAP}ns,{n}")]
    names = [f"{definition}/{name}" for definition in least for name in HISTS]
    with slowly(recording[0], tmp_path / "run", define=define, np=2) as run:
        run.held()
        assert [one["name"] for one in json.loads(run.ask("/histograms")[2])["histograms"]] == names
        assert [one["name"] for one in run.status()["spectra"]] == names
        assert run.ask("/histograms/size")[0] == run.ask("/histograms/other/size")[0] == 404
        run.proceed(speed=0.005)
        pairs = until_counted(run, "pair/size", lambda reported: reported["entries"] > 20)
        assert pairs["name"] == "pair/size" and pairs["counts"][2] > 0
        triples = until_counted(run, "triple/size", lambda reported: reported["entries"] > 0)
        assert triples["counts"][2] == 0
        assert run.control("stop")[0] == 202
        stopped = until_final(run, ["triple/size"])["triple/size"]
        run.wait(STOPPED)
    with slowly(recording[0], tmp_path / "run", "--resume", define=define, np=3) as run:
        run.held()
        assert until_counted(run, "triple/size")["entries"] == stopped["entries"] > 0
        looked_at(run, names)
        run.proceed()
        found = until_final(run, names)
        run.wait(0)
    for definition, n in least.items():
        assert_final(run, found, wanted(recording, n), definition)


def test_include_earlier_parts_after_a_resume(recording, tmp_path):
    with slowly(recording[0], tmp_path / "run", np=2) as run:
        run.listening().until_status(lambda s: s.get("spectra"), "the beginning")
        until_counted(run, "size", lambda reported: reported["entries"] > 50)
        assert run.control("stop")[0] == 202
        stopped = until_final(run, ["size"])["size"]
        run.wait(STOPPED)
    with slowly(recording[0], tmp_path / "run", "--resume", np=3) as run:
        run.held()
        first = until_counted(run, "size")
        assert first["entries"] == stopped["entries"] > 50
        looked_at(run, HISTS)
        run.proceed()
        found = until_final(run, HISTS)
        run.wait(0)
    assert_final(run, found, wanted(recording))


def test_what_is_not_there(recording, tmp_path):
    with slowly(recording[0], tmp_path / "run") as run:
        run.held()
        for path in ("/histograms/none", "/histograms/", "/histograms/size/", "/histograms/%73ize", "/histograms/Size"):
            code, _, body = run.ask(path)
            assert code == 404 and "/histograms" in json.loads(body)["error"], path
        assert "/histograms" in json.loads(run.ask("/nothing")[2])["error"]
        assert run.ask("/histograms/size", "POST", "{}")[0] == run.ask("/histograms", "POST", "{}")[0] == 405
        assert run.ask("/histograms/size", "HEAD")[0] == 200
        assert run.ask("/histograms/size?x=1")[0] == 200
        assert run.control("stop")[0] == 202
        run.wait(STOPPED)
    with Monitored(tmp_path / "without", recording[0], *DEFINE, "--speed", 0.005) as run:
        run.held()
        assert json.loads(run.ask("/histograms")[2]) == {"histograms": []} and "spectra" not in run.status()
        assert run.ask("/histograms/size")[0] == 404
        assert run.control("stop")[0] == 202
        run.wait(STOPPED)


def test_many_cells(recording, tmp_path):
    """Nearly the maximum number of cells: viewers do not change the result, and receive fewer bins."""
    reference = Run(tmp_path / "reference", recording[0], *DEFINE, *words(BIG), np=2)
    with Monitored(tmp_path / "run", recording[0], *DEFINE, *words(BIG), "--speed", 0.005, np=2) as run:
        run.held()
        looked_at(run, BIG)
        run.proceed()
        found = until_final(run, BIG)
        run.wait(0)
    for name, reported in found.items():
        with h5py.File(reference.output) as file, h5py.File(run.folder / "run.h5") as watched:
            counts = file[f"histograms/{name}/counts"][()]
            assert np.array_equal(watched[f"histograms/{name}/counts"][()], counts)
        assert_reported(reported, counts, 0, 0)
    assert [len(axis["edges"]) for axis in found["plane"]["axes"]] == [401, 401] and len(found["long"]["counts"]) <= 16384


def test_one_who_looks_late(recording, tmp_path):
    """After the run has ended, only final counts are served."""
    with slowly(recording[0], tmp_path / "run") as run:
        run.held()
        until_counted(run, "where")
        run.proceed()
        run.until_status(lambda s: s["state"] == "ended", "the end")
        size, where = ask(run, "size"), ask(run, "where")  # the run waits for the viewer of `where`
        assert where["final"] and where["counts"] is not None
        assert size["final"] and size["counts"] is None and size["entries"] is None
        run.wait(0)
    assert_reported(where, *wanted(recording)["where"])
