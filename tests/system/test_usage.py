"""Users' mistakes: one clear line, exit code 2, no partial file under a final name."""

import json
import os
import shlex
import subprocess

import pytest

import truth
from epochs_file import read_epochs_file
from interrupted import STOPPED
from program import BINARY, Run, environment, eventloom, generate
from results import assert_unfinished, read_ledger

COMMANDS = ["run", "generate", "convert", "inspect", "merge", "plan", "report", "send", "serve", "show", "simulate"]


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    return generate(folder, sources=1, rate=10_000, timing="poisson", hits=8, width="50ns", noise=100_000,
                    duration="20ms", seed=1)[0]


def assert_one_line(done, *words):
    """Standard error has one line with all `words`, and standard output is empty. An excerpt with marks may follow it."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("eventloom") and all(word in line for word in words)]
    assert len(lines) == 1, f"not one line with {words}:\n{done.stderr}"
    assert done.stdout == ""


BAD_OPTIONS = [
    (["--define", "gap:25"], "gap:25"),
    (["--define", "gap:x,4"], "gap:x,4"),
    (["--define", "gap:25,4,7"], "gap:25,4,7"),
    (["--define", "gap:25parsec,4"], "25parsec"),
    (["--define", "multiplicity:0,4"], "multiplicity:0,4"),
    (["--define", "waterfall"], "waterfall"),
    (["--filter", "n_hits>>8"], "n_hits>>8"),
    (["--filter", "colour>=8"], "colour>=8"),
    (["--filter", "prescale=0"], "prescale=0"),
    (["--filter", "channel:9-3>=1"], "channel:9-3>=1"),
    (["--schedule", "best"], "best"),
    (["--schedule", "table:"], "table:"),
    (["--schedule", "table:none.csv"], "none.csv"),
    (["--schedule", "chaotic", "--slot", "50us"], "--slot"),
    (["--schedule", "table:none.csv", "--slot", "50us"], "--slot"),
    (["--slot", "50"], "--slot"),
    (["--slot", "0ns"], "--slot"),
    (["--epochs-per-slice", "0"], "epochs-per-slice"),
    (["--builders", "-1"], "--builders"),
    (["--cell-size", "10"], "cell-size"),
    (["--cell-size", "many"], "many"),
    (["--ring-depth", "0"], "ring-depth"),
    (["--tick", "0ns"], "--tick"),
    (["--epoch", "10s"], "10s"),
    (["--frobnicate"], "frobnicate"),
    (["--monitor", ""], "--monitor is given an empty value"),
    (["--detector", ""], "--detector is given an empty value"),
    (["--filter", ""], "--filter is given an empty value"),
]


@pytest.mark.parametrize("options, word", BAD_OPTIONS, ids=[" ".join(o) for o, _ in BAD_OPTIONS])
def test_bad_option(tmp_path, stream, options, word):
    define = [] if options[0] == "--define" else ["--define", "gap:25,4"]
    done = eventloom("run", "--source", stream, *define, *options, "--output", tmp_path / "run.h5", code=2)
    assert_one_line(done, word)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments, word", [([], "--help"), (["weave"], "weave"), (["run"], "--source"),
                                             (["merge"], "merge"), (["run", "--config", "none.ini"], "none.ini")])
def test_bad_command(arguments, word):
    done = eventloom(*arguments, code=2)
    assert word in done.stderr and done.stdout == ""


@pytest.mark.parametrize("arguments, words", [
    (["show", "run.h5", "--event", "-1"], ["--event", "'-1'", "whole number"]),
    (["inspect", "run.h5", "--events", "-1"], ["--events", "'-1'", "whole number"]),
    (["control", "http://127.0.0.1:1", "speed", "-1"], ["speed", "from 1e-6 to 1e9"]),
    (["control", "http://127.0.0.1:1", "speed", "fast"], ["speed", "from 1e-6 to 1e9"]),
    (["control", "http://127.0.0.1:1", "-1"], ["'-1'", "pause"])], ids=lambda words: " ".join(words))
def test_numbers_that_are_not_allowed(arguments, words):
    assert_one_line(eventloom(*arguments, code=2), *words)


BAD_SOURCES = [
    ("file:none.epochs", "none.epochs"),
    ("file:none*.epochs", "none*.epochs"),
    ("file:text.epochs", "text.epochs"),
    ("file:.", "not a regular file"),
    ("carrier-pigeon:here", "carrier-pigeon"),
    ("none.epochs", "none.epochs"),
    ("hdf5:none.h5?group=/dom_*&time=time&channel=channel&unit=ns", "none.h5"),
    ("hdf5:text.epochs?group=/dom_*&time=time&channel=channel&unit=ns", "text.epochs"),
    (f"hdf5:{truth.RECORDINGS[1].path}?group=/none_*&time=time&channel=channel&unit=ns", "/none_*"),
    (f"hdf5:{truth.RECORDINGS[1].path}?group=/dom_*&time=clock&channel=channel&unit=ns", "clock"),
    (f"hdf5:{truth.RECORDINGS[1].path}?group=/dom_*&time=time&channel=channel&unit=parsec", "parsec"),
    (f"hdf5:{truth.RECORDINGS[1].path}?group=/dom_*&time=time&channel=channel&unit=ns&colour=red", "colour"),
    ("csv:none.csv?time=1&channel=2&unit=ns", "none.csv"),
    ("csv:text.epochs?time=1&channel=2&unit=ns", "text.epochs"),
    ("csv:columns.csv?time=1&channel=3&unit=tick", "columns.csv"),
    ("csv:columns.csv?time=0&channel=2&unit=tick", "time"),
    ("csv:columns.csv?channel=2&unit=tick", "time"),
]


@pytest.mark.parametrize("np", [None, 3])
@pytest.mark.parametrize("uri, word", BAD_SOURCES, ids=[u.rpartition("/")[2] for u, _ in BAD_SOURCES])
def test_source_that_cannot_be_read(tmp_path, uri, word, np):
    (tmp_path / "text.epochs").write_text("not a recording\n" * 40)
    (tmp_path / "columns.csv").write_text("1,2\n3,4\n")
    done = eventloom("run", "--source", uri, "--define", "tag", "--output", "run.h5", np=np, code=2, cwd=tmp_path)
    lines = [line for line in done.stderr.splitlines() if word in line]
    assert len(lines) == 1, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["columns.csv", "text.epochs"]


@pytest.mark.parametrize("np", [None, 3])
def test_hits_years_apart(tmp_path, np):
    """The time between them costs nothing, in a run as in convert and inspect."""
    (tmp_path / "far.csv").write_text(f"5,1\n{(1 << 40) * 10_000 + 5},2\n")
    source = f"csv:{tmp_path}/far.csv?time=1&channel=2&unit=ns"
    eventloom("convert", source, "--output", tmp_path / "far.epochs", timeout=20)
    shown = json.loads(eventloom("inspect", "--json", tmp_path / "far.epochs", timeout=20).stdout)
    assert (shown["hits"], shown["gaps"], shown["epochs_in_gaps"]) == (2, 1, (1 << 40) - 1)
    for uri in (source, f"file:{tmp_path}/far.epochs"):
        folder = tmp_path / uri.partition(":")[0]
        folder.mkdir()
        done = eventloom("run", "--source", uri, "--define", "tag", "--output", folder / "run.h5", np=np, timeout=20)
        assert done.stdout.startswith("2 events with 2 hits in 2 slices"), done.stdout


def test_sources_that_begin_years_apart(tmp_path, stream):
    (tmp_path / "far.csv").write_text(f"{(1 << 40) * 10_000},2\n")
    alone = Run(tmp_path / "alone", [stream], "--define", "tag", timeout=20).report()["totals"]
    both = Run(tmp_path / "both", [f"csv:{tmp_path}/far.csv?time=1&channel=2&unit=ns", stream], "--define", "tag",
               timeout=20).report()["totals"]
    assert (both["events"], both["slices"]) == (alone["events"] + 1, alone["slices"] + 1)


def test_time_that_no_epoch_has(tmp_path):
    (tmp_path / "top.csv").write_text("5,1\n18446744073709551,2\n")
    source = f"csv:{tmp_path}/top.csv?time=1&channel=2&unit=us"
    for words in (["run", "--source", source, "--define", "tag"], ["convert", source]):
        done = eventloom(*words, "--output", tmp_path / "out", code=2, timeout=20)
        assert_one_line(done, "top.csv", "18446744073709551000")
    assert [path.name for path in tmp_path.iterdir()] == ["top.csv"]


def test_file_names_with_signs_of_uris(tmp_path):
    for name in ("a&b.csv", "a?b.csv"):
        (tmp_path / name).write_text("5,1\n7,2\n")
    source = f"csv:{tmp_path}/a*.csv?time=1&channel=2&unit=ns"
    eventloom("convert", source, "--output", tmp_path / "converted")
    names = ["00000_a&b.epochs", "00001_a?b.epochs"]
    assert sorted(path.name for path in (tmp_path / "converted").iterdir()) == names
    for name in names:
        assert json.loads(eventloom("inspect", "--json", tmp_path / "converted" / name).stdout)["hits"] == 2
    eventloom("run", "--source", source, "--define", "gap:5,4", "--output", tmp_path / "run.h5")
    assert read_ledger(tmp_path / "run.h5")["hits_in"].sum() == 4


def test_slot_finer_than_the_clocks(tmp_path, stream):
    done = eventloom("run", "--source", stream, "--define", "tag", "--slot", "1ns", "--output", tmp_path / "run.h5", np=2, code=2)
    assert_one_line(done, "1 ns", "clocks")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("np", [None, 3])
def test_missing_directory(tmp_path, stream, np):
    done = eventloom("run", "--source", stream, "--define", "tag", "--output", tmp_path / "none" / "run.h5", np=np, code=2)
    assert_one_line(done, str(tmp_path / "none"))


def test_output_that_cannot_be_written(tmp_path, stream):
    """A folder has the name of the file."""
    for words in (["convert", stream, "--output", "/dev/null/x.epochs"],
                  ["merge", tmp_path / "none.h5", "--output", tmp_path / "merged.h5"],
                  ["inspect", tmp_path / "none.epochs"],
                  ["generate", "--output", "/dev/null/x", "--sources", "1", "--rate", "1000", "--duration", "1ms"]):
        done = eventloom(*words, code=2)
        assert done.stdout == "" and len(done.stderr.splitlines()) == 1, done.stderr
    assert list(tmp_path.iterdir()) == []


def on_small_disk(folder, command):
    """Runs a command ({disk} stands for the folder) on a file system of 64 KiB; the remaining files go to
    folder/copy."""
    disk = folder / "disk"
    disk.mkdir(parents=True)
    line = " ".join(shlex.quote(str(word).replace("{disk}", str(disk))) for word in command)
    script = (f"mount -t tmpfs -o size=64k tmpfs {disk} || exit 99; timeout -k 5 60 {line}; code=$?; "
              f"cp -r {disk} {folder}/copy; exit $code")
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    done = subprocess.run([*unshare, "sh", "-c", script], env=environment(), text=True, capture_output=True)
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("SKIPPED: no right to mount a small file system here, so the full disk is not tested")
    return done


@pytest.mark.parametrize("np", [None, 3])
def test_full_disk(tmp_path, stream, np):
    launch = [] if np is None else ["mpirun", "--oversubscribe", "-np", np]
    done = on_small_disk(tmp_path, [*launch, BINARY, "run", "--source", stream, "--define", "tag",
                                    "--output", "{disk}/run.h5"])
    assert done.returncode == STOPPED, done.stderr
    assert "space" in done.stderr and "disk/" in done.stderr, done.stderr
    assert_unfinished(tmp_path / "copy")


@pytest.mark.parametrize("words", [
    ["generate", "--output", "{disk}/streams", "--sources", 1, "--rate", "1e5", "--hits", 8, "--duration", "50ms"],
    ["convert", truth.RECORDINGS[1].uri(), "--output", "{disk}/streams"],
], ids=["generate", "convert"])
def test_full_disk_of_other_commands(tmp_path, words):
    done = on_small_disk(tmp_path, [BINARY, *words])
    assert done.returncode == 2 and "space" in done.stderr, done.stderr
    for path in (tmp_path / "copy").rglob("*.epochs"):
        read_epochs_file(path)  # raises when the file is not complete


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command):
    """Every command prints its options, units and defaults on standard output."""
    text = eventloom(command, "--help").stdout
    assert text.startswith("usage: eventloom " + command)
    assert "--help" in text and "--config" in text and "--print-config" in text


def test_help_of_run_names_the_options_of_the_contract():
    text = eventloom("run", "--help").stdout
    for option in ("source", "builders", "filters", "schedule", "define", "filter", "epochs-per-slice", "overlap", "epoch",
                   "tick", "cell-size", "ring-depth", "output", "report-json", "compress", "resume", "scratch",
                   "segment-size", "segment-time", "stall-warning", "stall-timeout"):
        assert f"--{option}" in text, option
    for word in ("gap", "multiplicity", "tag", "round-robin", "chaotic", "n_hits", "prescale"):
        assert word in text, word


def test_overview_names_the_commands():
    text = eventloom("--help").stdout
    for command in COMMANDS:
        assert command in text
