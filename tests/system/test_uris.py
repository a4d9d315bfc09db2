"""URIs: characters that are part of names and not of the URI, files and folders that are not there, and the columns that
no source reads, reported once."""

import functools
import json
import re

import h5py
import numpy as np
import pytest

from program import Run, eventloom, only_line
from results import read_merged

ALL = ("--define", "gap:0,1")
# A name, and how a URI writes it.
NAMES = [("R&D", "R%26D"), ("a=b", "a=b"), ("50%", "50%"), ("x%41", "x%2541"), ("why?", "why?"), ("#1", "#1"), ("a,b", "a,b"),
         ("t + 1", "t%20+%201"), ("caf\u00e9", "caf%C3%A9"), ("dom_[1]", "dom_[1]"), ("a:b", "a:b")]


def run_in(folder, name, uris, **options):
    """A run in this folder, whose output is in a folder below."""
    return Run(folder / "runs" / name, uris, *ALL, launch=functools.partial(eventloom, cwd=folder), **options)


def hits_of(run):
    merged = read_merged(run.merged)
    return list(zip(merged["hits/time"].tolist(), merged["hits/channel"].tolist(), merged["payload"].tolist()))


def group_of(file, name, seed, column="tot"):
    times = np.sort(np.random.default_rng(seed).integers(0, 10**6, 50)).astype("u8")
    file[f"{name}/time"], file[f"{name}/channel"] = times, np.arange(50, dtype="u4") % 7
    file[f"{name}/{column}"] = np.arange(50, dtype="u4") + seed
    return list(zip(times.tolist(), (np.arange(50) % 7).tolist(), (np.arange(50) + seed).tolist()))


@pytest.mark.parametrize("name, written", NAMES)
def test_names_of_groups(tmp_path, name, written):
    """Among others that would match if the name were a pattern."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        expected = group_of(file, name, 1)
        group_of(file, "dom_1", 2)
    uri = f"hdf5:{tmp_path}/a.h5?group=/{written}&payload=tot&unit=ns"
    assert hits_of(Run(tmp_path / "run", [uri], *ALL)) == expected
    shown = json.loads(eventloom("inspect", uri, "--json").stdout)
    pasted = json.loads(eventloom("inspect", shown["header"]["uri"], "--json").stdout)
    assert shown["hits"] == 50 and shown["header"]["group"] == "/" + name and pasted == shown


def test_patterns_print_uris_that_can_be_pasted(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        expected = {f"/{name}": group_of(file, name, n) for n, (name, _) in enumerate(NAMES)}
    uri = f"hdf5:{tmp_path}/a.h5?group=/*&payload=tot&unit=ns"
    files = json.loads(eventloom("inspect", uri, "--events", 60, "--json").stdout)["files"]
    assert {file["header"]["group"] for file in files} == set(expected)
    for file in files:
        alone = json.loads(eventloom("inspect", file["header"]["uri"], "--events", 60, "--json").stdout)
        assert alone == file
        assert [(hit["time"], hit["channel"], *hit["payload"]) for hit in alone["first_events"]] == expected[file["header"]["group"]]


@pytest.mark.parametrize("name, written", [("E, keV", "E%2C keV"), ("R&D", "R%26D"), ("100%", "100%"), ("%2C", "%252C")])
def test_names_of_columns(tmp_path, name, written):
    (tmp_path / "x.csv").write_text(f't_ns,ch,other,"{name}"\n' + "".join(f"{n},1,9,{7 * n}\n" for n in range(20)))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["t_ns"], file["ch"] = np.arange(20), np.ones(20, dtype="u4")
        file["other"], file[name] = np.full(20, 9), 7 * np.arange(20, dtype="u4")
    for source in ("csv:x.csv", "hdf5:x.h5"):
        run = run_in(tmp_path, source[:3], [f"{source}?time=t_ns&channel=ch&payload={written},other"])
        assert read_merged(run.merged)["payload"].tolist() == [word for n in range(20) for word in (7 * n, 9)]


@pytest.mark.parametrize("name, uri", [("a&b.csv", "csv:a&b.csv?time=1&channel=2&unit=ns"), ("a?b.csv", "csv:a%3Fb.csv?time=1&channel=2&unit=ns"),
                                       ("a%26b.csv", "csv:a%26b.csv?time=1&channel=2&unit=ns"),
                                       ("a%26b.csv", "csv:a%2526b.csv?time=1&channel=2&unit=ns"),
                                       ("a b.csv", "csv:a%20b.csv?time=1&channel=2&unit=ns")])
def test_names_of_files(tmp_path, name, uri):
    """What is a file's name as it stands is that file."""
    (tmp_path / name).write_text("5,1\n9,2\n")
    assert json.loads(eventloom("inspect", uri, "--json", cwd=tmp_path).stdout)["hits"] == 2
    run = run_in(tmp_path, "run", [uri])
    with h5py.File(run.output) as file:
        assert json.loads(eventloom("inspect", file["sources/uri"].asstr()[0], "--json", cwd=tmp_path).stdout)["hits"] == 2


def test_two_files_that_a_uri_may_mean(tmp_path):
    for name in ("a%26b.csv", "a&b.csv"):
        (tmp_path / name).write_text("t_ns,ch\n5,1\n")
    only_line(eventloom("run", "--source", "csv:a%26b.csv", *ALL, code=2, cwd=tmp_path), "a%26b.csv", "a&b.csv", "%25")


def test_a_pattern_with_question_marks(tmp_path):
    for n in range(3):
        (tmp_path / f"run_{n}.csv").write_text(f"t_ns,ch\n{5 + n},1\n")
    for uri in ("run_?.csv", "csv:run_%3F.csv"):
        run = run_in(tmp_path, uri[:3], [uri])
        assert read_merged(run.merged)["hits/source"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("name, words", [
    ("{}/run7", ["there is no such file"]), ("{}/2026-11-29T10:00/run7", ["there is no such file"]), ("run7", ["there is no such file"]),
    ("{}/run*.xyz", ["no file matches"]), ("{}", ["is a folder", "/*'"]), ("{}/none.csv", ["none.csv"]), ("csv:{}/none", ["none", "o such file"]),
    ("hdf5:{}/none.h5", ["none.h5", "o such file"]), ("compass:{}/none", ["none", "o such file"]), ("lmd:{}/none?concat", ["none", "o such file"]),
    ("csv:{}/*.none", ["no file matches"])])
@pytest.mark.parametrize("command", ["run", "inspect"])
def test_what_is_not_there(tmp_path, name, words, command):
    folder = tmp_path / "data"
    folder.mkdir()
    uri = name.format(folder)
    done = (eventloom("run", "--source", uri, *ALL, "--output", tmp_path / "o.h5", code=2) if command == "run" else
            eventloom("inspect", uri, code=2))
    assert "unknown scheme" not in done.stderr
    only_line(done, *(words if command == "run" else words[:0]))


# Columns that are not read


def said_of(done):
    return [line for line in done.stderr.splitlines() if "columns not read" in line]


def test_columns_not_read_once_per_run(tmp_path):
    """However many sources and ranks; where sources differ, with those that have the column."""
    for n in range(30):
        (tmp_path / f"a{n}.csv").write_text(f"t_ns,ch,adc,flags,note\n{5 + n},1,7,2,0\n")
    (tmp_path / "b.csv").write_text("t_ns,ch,adc,quality\n5,1,7,2\n")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for n in range(20):
            group_of(file, f"dom_{n:02}", n)
    run = run_in(tmp_path, "run", ["a*.csv", "b.csv", "hdf5:x.h5?group=/dom_*&unit=ns"], np=3)
    (line,) = said_of(run.done)
    assert re.search(r"flags, note \(a0[.]csv, .* more\), quality \(b[.]csv\), tot \(x[.]h5:/dom_00, .*\)", line) and len(line) < 520
    run = run_in(tmp_path, "alike", ["a*.csv"], np=3)
    (line,) = said_of(run.done)
    assert "a0.csv, a1.csv" in line and "columns not read: flags, note; payload=" in line


def test_columns_in_use_are_not_among_them(tmp_path):
    """Times in two columns, fields of a table, companions of NeXus pulses, and columns in a folder of the group."""
    table = np.zeros(4, dtype=[("sec", "u4"), ("ns", "u4"), ("id", "u2"), ("e", "f4"), ("spare", "u1")])
    table["ns"] = np.arange(4)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["hits"] = table
        file["raw/t_ns"], file["raw/ch"], file["raw/adc"], file["length"] = np.arange(4), np.arange(4), np.arange(4), np.arange(4)
        nexus = file.create_group("nexus")
        for name, values in (("event_time_offset", [1, 2, 3, 4]), ("event_id", [1, 1, 1, 1]), ("event_index", [0, 1, 2, 3]),
                             ("event_time_zero", [10, 20, 30, 40]), ("weight", [1, 1, 1, 1])):
            nexus[name] = np.array(values, dtype="u8")
        nexus["event_time_offset"].attrs["units"] = nexus["event_time_zero"].attrs["units"] = "ns"
    for uri, unread in (("time=hits/ns&coarse=hits/sec&coarse-unit=s&unit=ns&channel=hits/id", ["hits/e", "hits/spare"]),
                        ("time=raw/t_ns&channel=raw/ch", ["raw/adc"]),
                        ("group=/nexus&time=event_time_offset&channel=event_id", ["weight"])):
        shown = json.loads(eventloom("inspect", f"hdf5:x.h5?{uri}", "--json", cwd=tmp_path).stdout)
        assert shown["hits"] == 4 and shown["header"]["columns_not_read"] == unread
        (line,) = said_of(run_in(tmp_path, unread[0][:3], [f"hdf5:x.h5?{uri}"], np=2).done)
        assert f"columns not read: {', '.join(unread)};" in line
    (tmp_path / "y.csv").write_text("sec,ns,ch,e\n1,5,2,7\n")
    run = run_in(tmp_path, "y", ["csv:y.csv?time=ns&unit=ns&coarse=sec&coarse-unit=s&channel=ch&payload=e"])
    assert said_of(run.done) == []
