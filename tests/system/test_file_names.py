"""Names and sets of files: endings, order, copies and number; and how a table ends."""

import random
import re
import struct
import subprocess

import h5py
import numpy as np
import pytest

import caen
import midas
from program import BINARY, DATA, Run, bounded, environment, eventloom, generate, only_line
from results import assert_balanced, dropped, read_ledger, read_merged

ALL = ("--define", "gap:0,1")


def refused(folder, *sources, words=()):
    uris = [word for source in sources for word in ("--source", source)]
    return only_line(eventloom("run", *uris, *ALL, "--output", folder / "refused.h5", code=2), *words)


def hits_of(run):
    merged = read_merged(run.merged)
    return list(zip(merged["hits/time"].tolist(), merged["hits/source"].tolist(), merged["hits/channel"].tolist()))


def naturally(names):
    """The order used by file managers."""
    return sorted(names, key=lambda name: ([(int(part) if part.isdigit() else -1, part if not part.isdigit() else "")
                                            for part in re.split(r"(\d+)", name)], name))


# ---- endings

def files_of_all_kinds(folder):
    """{name: kind}"""
    (folder / "T.CSV").write_text("t_ns,ch\n1,2\n3,4\n")
    caen.compass_file(folder / "R.BIN", 0xCAE1, [dict(board=0, channel=1, time_ps=5000 * n, energy=7) for n in range(20)])
    midas.midas_file(folder / "M.MID", [midas.Event(n, [midas.Bank("ADC0", b"1234")]) for n in range(9)])
    (folder / "L.LMD").write_bytes((DATA / "lmd/var_small.lmd").read_bytes())
    (folder / "H.Hld").write_bytes((DATA / "hld/var_small.hld").read_bytes())
    generate(folder / "g", sources=1, rate="1e5", duration="1ms")
    (folder / "E.EPOCHS").write_bytes((folder / "g/source_000.epochs").read_bytes())
    return {"T.CSV": "csv", "R.BIN": "compass", "M.MID": "midas", "L.LMD": "lmd", "H.Hld": "hld", "E.EPOCHS": "epochs"}


def test_one_recogniser_for_all_commands(tmp_path):
    """Names in capitals, and names that reveal nothing, so that the contents decide."""
    kinds = files_of_all_kinds(tmp_path)
    for name in list(kinds):
        if name != "T.CSV":
            (tmp_path / name.split(".")[0].lower()).write_bytes((tmp_path / name).read_bytes())
            kinds[name.split(".")[0].lower()] = kinds[name]
    for name, kind in kinds.items():
        path = tmp_path / name
        assert f'"kind": "{kind}"' in eventloom("inspect", path, "--json").stdout.replace('epochs stream', 'epochs'), name
        eventloom("run", "--source", path, *ALL, "--output", tmp_path / f"{name}.run.h5", code=None)
        eventloom("run", "--source", path, *ALL, "--output", tmp_path / f"{name}.run.h5", "--force")
        eventloom("convert", path, "--output", tmp_path / f"{name}.out.epochs")
        eventloom("plan", "--source", path, "--nodes", 1)
    (tmp_path / "what.xyz").write_text("neither\n")
    reported = {re.sub(r"^eventloom \w+: ", "", only_line(done, "what.xyz", "unknown scheme")) for done in (
        eventloom("inspect", tmp_path / "what.xyz", code=2),
        eventloom("run", "--source", tmp_path / "what.xyz", *ALL, "--output", tmp_path / "o.h5", code=2),
        eventloom("convert", tmp_path / "what.xyz", "--output", tmp_path / "o.epochs", code=2),
        eventloom("plan", "--source", tmp_path / "what.xyz", "--nodes", 1, code=2),
        eventloom("serve", tmp_path / "what.xyz", code=2), eventloom("send", tmp_path / "what.xyz", code=2))}
    assert len(reported) == 1, reported


def test_names_with_signs_of_uris(tmp_path):
    """An existing file takes precedence over an interpretation of its name."""
    for name in ("run_10:30.csv", "what?.csv", "a[1].csv"):
        (tmp_path / name).write_text("t_ns,ch\n1,2\n")
        assert len(hits_of(Run(tmp_path / f"run {len(name)}", [str(tmp_path / name)], *ALL))) == 1


def test_a_glob_of_several_kinds_is_refused(tmp_path):
    files_of_all_kinds(tmp_path)
    refused(tmp_path, f"{tmp_path}/[MT].*", words=["several kinds", "M.MID", "midas", "T.CSV", "csv"])


# ---- order

NAMES = ["run5_2", "run5_10", "run5_1", "run5_02", "run5_100", "run5_3a", "run5_3", "run05_4", "run5_" + "9" * 30,
         "run5_1" + "0" * 30, "run12", "Run5_2"]


def test_globs_are_in_natural_order(tmp_path):
    """As sources and joined; names with equal numbers by their bytes. The shell's order is kept."""
    order = naturally(NAMES)
    for k, name in enumerate(order):
        (tmp_path / f"{name}.csv").write_text(f"t_ns,ch\n{100 + k},{k}\n")
        midas.midas_file(tmp_path / f"{name}.mid", [midas.Event(100 * k + n, [midas.Bank("ADC0", b"1")]) for n in range(5)])
    assert [h[1] for h in hits_of(Run(tmp_path / "run", [f"csv:{tmp_path}/*un*.csv"], *ALL))] == list(range(len(order)))
    given = [f"{tmp_path}/{name}.csv" for name in NAMES]
    assert [NAMES[h[1]] for h in hits_of(Run(tmp_path / "given", given, *ALL))] == order
    joined = Run(tmp_path / "joined", [f"midas:{tmp_path}/*un*.mid?concat"], *ALL)
    assert [h[0] for h in hits_of(joined)] == [100 * k + n for k in range(len(order)) for n in range(5)]


# ---- copies

def test_copies_are_refused(tmp_path):
    rows = "t_ns,ch\n" + "".join(f"{n},1\n" for n in range(5000))
    (tmp_path / "a.csv").write_text(rows)
    (tmp_path / "b.csv").write_text(rows)
    (tmp_path / "c.csv").write_text(rows.replace("2500,1", "2500,2"))  # as long
    reported = refused(tmp_path, f"{tmp_path}/*.csv", words=["b.csv", "same contents", "a.csv", "remove one"])
    assert "c.csv" not in reported
    assert len(hits_of(Run(tmp_path / "run", [f"{tmp_path}/[ac].csv"], *ALL))) == 10_000
    events = [midas.Event(n, [midas.Bank("ADC0", b"1234")]) for n in range(20)]
    midas.midas_file(tmp_path / "r_1.mid", events)
    midas.midas_file(tmp_path / "r_2.mid", events)
    refused(tmp_path, f"midas:{tmp_path}/r_*.mid?concat", words=["r_2.mid", "r_1.mid"])
    assert len(hits_of(Run(tmp_path / "ids", [f"midas:{tmp_path}/r_1.mid?event=1", f"midas:{tmp_path}/r_2.mid?event=2"],
                           *ALL, code=None))) == 20
    generate(tmp_path / "g", sources=1, rate="1e5", duration="2ms")
    (tmp_path / "copy.epochs").write_bytes((tmp_path / "g/source_000.epochs").read_bytes())
    refused(tmp_path, tmp_path / "g/source_000.epochs", tmp_path / "copy.epochs", words=["copy.epochs", "source_000.epochs"])
    subprocess.run(["gzip", "-k", str(tmp_path / "a.csv")], check=True)
    refused(tmp_path, f"{tmp_path}/a.csv", f"{tmp_path}/a.csv.gz", words=["a.csv.gz", "same contents"])
    only_line(eventloom("serve", DATA / "lmd/var_small.lmd", copy_of(DATA / "lmd/var_small.lmd", tmp_path), code=2),
              "same contents")


def test_a_copy_that_another_rank_opens(tmp_path):
    """One rank compares the files on behalf of all."""
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("t_ns,ch\n" + "".join(f"{n},1\n" for n in range(50)))
    done = eventloom("run", f"{tmp_path}/*.csv", *ALL, "--output", tmp_path / "run.h5", np=2, code=2)
    assert "b.csv' has the same contents as" in done.stderr, done.stderr


def test_copies_that_are_read_as_other_data(tmp_path):
    """With another time of tick 0, or one by one."""
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("t,ch\n2026-11-21T10:00:00Z,1\n2026-11-21T10:00:01Z,1\n")
    uris = [f"{tmp_path}/{name}.csv?origin=2026-11-21T{origin}Z" for name, origin in (("a", "10:00:00"), ("b", "09:59:59"))]
    assert [h[0] for h in hits_of(Run(tmp_path / "run", uris, *ALL))] == [0, 10**9, 10**9, 2 * 10**9]
    eventloom("convert", f"{tmp_path}/*.csv?origin=2026-11-21T10:00:00Z".replace("*", "[ab]"), "--output", tmp_path / "out")
    assert len(list((tmp_path / "out").glob("*.epochs"))) == 2


def copy_of(path, folder):
    (folder / path.name).write_bytes(path.read_bytes())
    return folder / path.name


def test_files_without_data_are_no_copies(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("t_ns,ch\n")
    (tmp_path / "c.csv").write_text("t_ns,ch\n7,1\n")
    assert hits_of(Run(tmp_path / "run", [f"{tmp_path}/*.csv"], *ALL)) == [(7, 2, 1)]
    (tmp_path / "r_1.mid").write_bytes(b"")
    (tmp_path / "r_2.mid").write_bytes(b"")
    midas.midas_file(tmp_path / "r_3.mid", [midas.Event(3, [midas.Bank("ADC0", b"1234")])])
    assert len(hits_of(Run(tmp_path / "joined", [f"midas:{tmp_path}/r_*.mid?concat"], *ALL))) == 1


def test_columns_of_one_file_are_different_data(tmp_path):
    (tmp_path / "a.csv").write_text("t1,t2,ch\n1,2,3\n")
    uris = [f"csv:{tmp_path}/a.csv?time={t}&channel=ch&unit=ns" for t in ("t1", "t2")]
    assert hits_of(Run(tmp_path / "run", uris, *ALL)) == [(1, 0, 3), (2, 1, 3)]


# ---- many files

def under_file_limit(limit):
    def launch(*arguments, np=None, omp=None, timeout=120, code=0, cwd=None):
        command = ["prlimit", f"--nofile={limit}:{limit}", BINARY, *map(str, arguments)]
        return bounded(command, env=environment(omp), timeout=timeout, code=code, cwd=cwd)
    return launch


@pytest.mark.parametrize("form", ["csv", "epochs", "midas", "joined"])
def test_more_files_than_a_process_may_open(tmp_path, form):
    """2,000 files, of which no more than 256 may be open; each is longer than one read."""
    n, rows = 2000, 6000
    if form == "csv":
        for k in range(n):
            (tmp_path / f"s{k}.csv").write_text(f"t_ns,ch\n{k},{k}\n" + f"{10_000_000 + k},1\n")
        body = "".join(f"{100 + 7 * i},1\n" for i in range(rows * 3))
        (tmp_path / "s0.csv").write_text("t_ns,ch\n0,0\n" + body)
        source, expected = f"{tmp_path}/s*.csv", 2 * (n - 1) + 1 + 3 * rows
    elif form == "epochs":
        for seed in (1, 2):
            generate(tmp_path / str(seed), sources=n // 2, rate="1e3", duration="5ms", seed=seed)
        source, expected = f"{tmp_path}/[12]/*.epochs", None
    else:
        for k in range(n):
            midas.midas_file(tmp_path / f"r_{k}.mid", [midas.Event(k if form == "joined" else 1, [midas.Bank("ADC0", struct.pack("<I", k))])])
        source = f"midas:{tmp_path}/r_*.mid" + ("?concat" if form == "joined" else "")
        expected = n
    run = Run(tmp_path / "run", [source], *ALL, timeout=300, launch=under_file_limit(256))
    ledger = read_ledger(run.output)
    assert_balanced(ledger)
    hits = int(np.sum(ledger["hits_in"]))
    if expected is None:
        assert hits > n
        assert len(h5py.File(run.output)["sources/bytes"]) == n
    else:
        assert hits == expected


def test_long_files_that_take_turns(tmp_path):
    """More files than are kept open, each read in several pieces: all rows arrive."""
    generator = random.Random(4)
    expected = []
    for k in range(300):
        times = sorted(generator.randrange(10**7) for _ in range(12_000))
        (tmp_path / f"s{k}.csv").write_text("t_ns,ch\n" + "".join(f"{t},{k}\n" for t in times))
        expected += [sum(times)]
    run = Run(tmp_path / "run", [f"{tmp_path}/s*.csv"], *ALL, timeout=300, launch=under_file_limit(220))
    merged = read_merged(run.merged)
    sums = np.bincount(merged["hits/source"], weights=merged["hits/time"].astype(float), minlength=300)
    assert sums.astype(int).tolist() == expected


# ---- the end of a table

TABLE = "t_ns,ch,adc\n1000,11,501\n1010,12,502\n1020,13,503\n"


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
def test_a_table_cut_anywhere(tmp_path, separator):
    """No hit differs from the whole table's; a possibly truncated one is a loss."""
    text = TABLE.replace(",", separator)
    rows = [tuple(map(int, line.split(","))) for line in TABLE.splitlines()[1:]]
    header = len(text.split("\n")[0]) + 1
    for end in range(header, len(text) + 1):
        cut = text[:end]
        (tmp_path / "a.csv").write_text(cut)
        whole = cut.endswith("\n")
        run = Run(tmp_path / f"run{end}", [f"{tmp_path}/a.csv"], *ALL, code=0 if whole else 3)
        merged = read_merged(run.merged)
        kept = list(zip(merged["hits/time"].tolist(), merged["hits/channel"].tolist(), merged["payload"].tolist()))
        assert kept == rows[:cut.count("\n") - 1]
        if not whole:
            assert "a.csv:" in run.done.stderr and "no line end" in run.done.stderr
            assert dropped(read_ledger(run.output))["corrupt"] == 1


def test_a_last_row_whose_used_columns_are_whole(tmp_path):
    """They are followed by a separator or a CR, and are read."""
    for n, end in enumerate(("1020,13,503,fl", "1020,13,503,", "1020,13,503\r", "1020,13,503\n# end")):
        (tmp_path / f"{n}.csv").write_text("t_ns,ch,adc,flags\n" + TABLE.split("\n", 1)[1][:-12] + end)
        assert len(hits_of(Run(tmp_path / f"run{n}", [f"{tmp_path}/{n}.csv"], *ALL))) == 3
    # A truncated word must not become a separate channel, which would shift the others.
    (tmp_path / "w.csv").write_text("t_ns,ch\n1,left\n2,right\n3,cent")
    run = Run(tmp_path / "words", [f"{tmp_path}/w.csv"], *ALL, code=3)
    assert hits_of(run) == [(1, 0, 0), (2, 0, 1)]


# ---- leap seconds

def test_leap_seconds(tmp_path):
    """23:59:60 has no separate time: it is refused, in rows and as the origin; a run across it does not count it."""
    (tmp_path / "a.csv").write_text("t,ch\n2016-12-31T23:59:59Z,1\n2017-01-01T00:00:00Z,2\n")
    source = f"csv:{tmp_path}/a.csv?origin=2016-12-31T23:59:59Z"
    run = Run(tmp_path / "run", [source], *ALL)
    assert [h[0] for h in hits_of(run)] == [0, 10**9]  # not 2 * 10^9
    assert "cross the leap second 2016-12-31T23:59:60Z" in run.done.stderr
    (tmp_path / "b.csv").write_text("t,ch\n2016-12-31T23:59:59Z,1\n2016-12-31T23:59:60.5Z,2\n")
    refused(tmp_path, f"csv:{tmp_path}/b.csv?origin=2016-12-31T23:59:59Z", words=["b.csv:3", "leap second"])
    refused(tmp_path, f"csv:{tmp_path}/a.csv?origin=2016-12-31T23:59:60Z", words=["leap second"])
