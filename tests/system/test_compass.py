"""CoMPASS as text, and the flags of its records: records in either form give the same events."""

import json
import os
import struct
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

import caen
from live import counts_of
from pages import blocks
from program import BINARY, environment, eventloom
from results import dropped, read_ledger
from test_inputs import compass_events, compass_rows, refused, rows_of, run_all

FAKE, SATURATED, PILE_UP = caen.FAKE, caen.SATURATED, caen.PILE_UP
ALL_COLUMNS = caen.columns_of(0xCAEF)


@pytest.mark.parametrize("bits", [0xCAE1, 0xCAE2, 0xCAE3, 0xCAE5, 0xCAE7, 0xCAED, 0xCAEF])
def test_text_and_binary_give_the_same(tmp_path, bits):
    events = compass_events(bits)
    binary = caen.compass_file(tmp_path / "a.bin", bits, events)
    text = caen.text_file(tmp_path / "a.csv", caen.columns_of(bits), events)
    of_text, of_binary = (run_all(tmp_path / path.name[-3:], uri) for path, uri in ((text, text), (binary, f"compass:{binary}")))
    assert rows_of(of_text) == rows_of(of_binary) == compass_rows(bits, events)
    counts = [counts_of(run.report(), 0) for run in (of_text, of_binary)]
    assert counts[0] == counts[1] and counts[0]["records"] == len(events)
    seen = json.loads(eventloom("inspect", text, "--json").stdout)
    assert (seen["kind"], seen["hits"], seen["damaged"]) == ("compass", len(compass_rows(bits, events)), False)


@pytest.mark.parametrize("separator, end, mark", [(",", "\n", ""), (";", "\r\n", ""), (";", "\n", "\ufeff")])
def test_forms_of_text(tmp_path, separator, end, mark):
    """Columns may be in any order, but samples come last."""
    events = compass_events(0xCAEF, 300)
    columns = list(np.random.default_rng(3).permutation(ALL_COLUMNS[:-1])) + ["SAMPLES"]
    text = mark + "".join(line + end for line in caen.text_lines(columns, events, separator))
    (tmp_path / "a.txt").write_text(text, encoding="utf-8", newline="")
    assert rows_of(run_all(tmp_path / "run", f"compass:{tmp_path}/a.txt")) == compass_rows(0xCAEF, events)


def test_times_are_exact_picoseconds(tmp_path):
    times = [0, 1, 499, 500, 1499, 1500, 2**53 + 1, 9_007_199_254_740_993_501]
    events = [dict(board=1, channel=2, time_ps=t, energy=3, flags=0x4000) for t in times]
    text = caen.text_file(tmp_path / "a.csv", caen.columns_of(0xCAE1), events)
    for keys, tick, expected in (("", "1ps", times), ("", "1ns", [(t + 500) // 1000 for t in times]),
                                 ("?round=down", "1ns", [t // 1000 for t in times])):
        run = run_all(tmp_path / f"run{tick}{len(keys)}", f"{text}{keys}", options=("--tick", tick))
        assert [row[0] for row in rows_of(run)] == expected
        assert {row[2] for row in rows_of(run)} == {1 << 16 | 2}


def test_a_later_file_of_a_split_run(tmp_path):
    """The file has no header: the key gives it."""
    events = compass_events(0xCAE5, 200)
    header, *lines = caen.text_lines(caen.columns_of(0xCAE5), events)
    (tmp_path / "a.csv").write_text("".join(line + "\n" for line in lines))
    run = run_all(tmp_path / "run", f"compass:{tmp_path}/a.csv?header={header}")
    assert rows_of(run) == compass_rows(0xCAE5, events)
    refused(f"compass:{tmp_path}/a.csv", "a later file of a split run", "?header=BOARD;CHANNEL;TIMETAG")
    (tmp_path / "b.csv").write_text("".join(line + "\n" for line in [header, *lines]))
    assert rows_of(run_all(tmp_path / "own", f"compass:{tmp_path}/b.csv?header={header}")) == compass_rows(0xCAE5, events)
    for other in ("BOARD;CHANNEL;TIMETAG;ENERGY;FLAGS", "0xCAE1"):
        refused(f"compass:{tmp_path}/b.csv?header={other}", "a header of its own", "omit header=")


def split_run(folder, bits, events, form, cuts=(0, 70, 71, 150)):
    """The files of a split run, only the first of which has a header; the names are not in byte order."""
    names = [f"run_{n}.{form}" for n in range(9, 9 + len(cuts))]
    for name, begin, end in zip(names, cuts, [*cuts[1:], None]):
        some = events[begin:end]
        if form == "bin":
            head = struct.pack("<H", bits) if begin == 0 else b""
            (folder / name).write_bytes(head + b"".join(caen.record(bits, **event) for event in some))
        else:
            header, *lines = caen.text_lines(caen.columns_of(bits), some)
            (folder / name).write_text("".join(line + "\n" for line in ([header] if begin == 0 else []) + lines))
    return names


@pytest.mark.parametrize("form", ["bin", "csv"])
@pytest.mark.parametrize("bits", [0xCAE1, 0xCAE5, 0xCAEF])
def test_the_files_of_a_split_run(tmp_path, form, bits):
    """Each file is a source, in natural order; those without a header are read with that of the first."""
    events = compass_events(bits, 200)
    split_run(tmp_path, bits, events, form)
    run = run_all(tmp_path / "run", f"compass:{tmp_path}/run_*.{form}")
    assert sorted((t, c, w) for t, _, c, w in rows_of(run)) == sorted((t, c, w) for t, _, c, w in compass_rows(bits, events))
    assert [row[1] for row in sorted(rows_of(run), key=lambda row: row[1])][-1] == 3
    if form == "bin":
        assert f"run_10.bin: the file has no header of its own: its records are read as header=0x{bits:04X}" in run.done.stderr
    refused(f"compass:{tmp_path}/run_10.{form}", "name the first one in the same pattern", "header=")


@pytest.mark.parametrize("form", ["bin", "csv"])
def test_headers_of_several_runs(tmp_path, form):
    """Several equal headers are accepted; if they differ, a file without one must be named alone."""
    events = compass_events(0xCAE5, 200)
    split_run(tmp_path, 0xCAE5, events, form)
    (tmp_path / f"run_13.{form}").write_bytes((tmp_path / f"run_9.{form}").read_bytes())
    split_run(tmp_path, 0xCAE5, events[100:], form, (0, 20))
    for path in tmp_path.glob("run_1[123].*"):
        path.unlink()
    events = events[100:]
    run = run_all(tmp_path / "same", f"compass:{tmp_path}/run_*.{form}")
    assert sorted((t, c, w) for t, _, c, w in rows_of(run)) == sorted((t, c, w) for t, _, c, w in compass_rows(0xCAE5, events))
    caen.compass_file(tmp_path / f"run_2.{form}", 0xCAE1, events[:5])
    refused(f"compass:{tmp_path}/run_*.{form}", f"run_10.{form}' has no header", "0xCAE1", "name it alone, with header=")


def test_what_continues_no_run_is_refused(tmp_path):
    """Files of another format, and garbage, lie beside a run."""
    split_run(tmp_path, 0xCAE5, compass_events(0xCAE5, 200), "bin")
    for garbage in (b"\xff" * 500, b"0;1;5;5;5;0x0\n" * 40, b"".join(caen.record(0xCAE1, **event) for event in compass_events(0xCAE1, 200))):
        (tmp_path / "run_20.bin").write_bytes(garbage)
        refused(f"compass:{tmp_path}/run_*.bin", "run_20.bin", "0xCAEx")


def test_a_header_in_the_middle_is_no_record(tmp_path):
    events = compass_events(0xCAE1, 100)
    lines = caen.text_lines(caen.columns_of(0xCAE1), events)
    (tmp_path / "a.csv").write_text("\n".join([*lines[:51], "", lines[0], *lines[51:], ""]))
    assert rows_of(run_all(tmp_path / "run", tmp_path / "a.csv")) == compass_rows(0xCAE1, events)


def test_damaged_lines(tmp_path):
    """Each damaged line is a lost hit, named by its number."""
    events = [dict(e, flags=0x4000) for e in compass_events(0xCAE5, 40)]
    lines = caen.text_lines(caen.columns_of(0xCAE5), events)
    bad = {5: "0;1;12x;5;5;0x4000", 7: "0;1;1e9;5;5;0x4000", 9: "0;1;1000", 11: lines[11][:-2] + lines[12], 14: "\0" * 30,
           16: "64;1;5;5;5;0x0", 18: "0;65536;5;5;5;0x0", 20: "0;1;-5;5;5;0x0", 22: "0;1;5;65536;5;0x0", 24: "0;1;5;5;5;4000",
           26: "0;1;18446744073709551616;5;5;0x0", 28: "0;1;5;5;5;0x100000000"}
    for at, line in bad.items():
        lines[at] = line
    (tmp_path / "a.csv").write_text("\n".join([*lines, ""]))
    run = run_all(tmp_path / "run", tmp_path / "a.csv", code=3)
    assert rows_of(run) == compass_rows(0xCAE5, [event for n, event in enumerate(events, 1) if n not in bad])
    assert dropped(read_ledger(run.output))["corrupt"] == len(bad)
    for at in sorted(bad)[:10]:
        assert f"a.csv: line {at + 1}: " in run.done.stderr


@pytest.mark.parametrize("cut", [1, 2, 9])
def test_a_last_line_that_is_cut(tmp_path, cut):
    """Not even where the rest of the line would be a record."""
    events = [dict(e, flags=0x4000) for e in compass_events(0xCAE1, 40)]
    text = "\n".join([*caen.text_lines(caen.columns_of(0xCAE1), events), ""])
    (tmp_path / "a.csv").write_text(text[:-cut])
    run = run_all(tmp_path / "run", tmp_path / "a.csv", code=3)
    assert rows_of(run) == compass_rows(0xCAE1, events[:-1])
    assert dropped(read_ledger(run.output))["corrupt"] == 1 and "line 41 is cut" in run.done.stderr


@pytest.mark.parametrize("header, words", [
    ("BOARD;CHANNEL;TIMETAG;ENERGY", "no column FLAGS"),
    ("BOARD;CHANNEL;TIMETAG;FLAGS", "neither ENERGY nor CALIB_ENERGY"),
    ("BOARD;CHANNEL;TIMETAG;ENERGY;ENERGY;FLAGS", "names ENERGY twice"),
    ("BOARD;CHANNEL;TIMETAG;SAMPLES;ENERGY;FLAGS", "SAMPLES is not the last"),
])
def test_headers_that_cannot_be(tmp_path, header, words):
    (tmp_path / "a.csv").write_text(header + "\n0;1;2;3;4;0x0\n")
    refused(f"{tmp_path}/a.csv", words)


def test_tables_of_compass_are_known(tmp_path):
    """Tables of CoMPASS are recognised with any keys; columns named by the user are those of a plain table."""
    events = [dict(e, flags=0x4000) for e in compass_events(0xCAE1, 50)]
    text = caen.text_file(tmp_path / "a.csv", caen.columns_of(0xCAE1), events)
    expected = compass_rows(0xCAE1, events)
    upper = caen.text_file(tmp_path / "a.CSV", caen.columns_of(0xCAE1), events)
    other = caen.text_file(tmp_path / "a.txt", caen.columns_of(0xCAE1), events)
    for n, uri in enumerate((f"csv:{text}", f"{tmp_path}/*.csv", f"{text}?offset=0&drop=none", upper, other)):
        assert rows_of(run_all(tmp_path / f"run{n}", uri)) == expected
    refused(f"{text}?unit=ps", "a table of CoMPASS", "'unit='", "time=TIMETAG&channel=CHANNEL&unit=ps")
    plain = run_all(tmp_path / "plain", f"{text}?time=TIMETAG&channel=CHANNEL&payload=&unit=ps&round=nearest")
    assert rows_of(plain) == [(time, 0, channel & 0xFFFF, ()) for time, _, channel, _ in expected]


# ---- flags

def flagged_events():
    """Events of each kind, and mixtures, 1 us apart."""
    flags = [0, 0x4000, FAKE, FAKE | 2, SATURATED, 0x400, PILE_UP, PILE_UP | SATURATED, 0x4000 | FAKE | PILE_UP, 0x80000 | FAKE,
             0x1, 0x10, 0x20, 0x40, 0x4000]
    return [dict(board=0, channel=1, time_ps=10**6 * n, energy=n, flags=f) for n, f in enumerate(flags)]


@pytest.mark.parametrize("form", ["binary", "text"])
@pytest.mark.parametrize("keys, out", [
    ("", FAKE), ("?drop=fake", FAKE), ("?drop=saturated", FAKE | SATURATED | 0x400), ("?drop=pileup", FAKE | PILE_UP),
    ("?drop=fake,saturated,pileup", FAKE | SATURATED | 0x400 | PILE_UP), ("?drop=none", 0)])
def test_flags_decide(tmp_path, form, keys, out):
    events = [e for e in flagged_events() if not e["flags"] & 0x80000]
    path = caen.compass_file(tmp_path / "a.bin", 0xCAE1, events) if form == "binary" else \
        caen.text_file(tmp_path / "a.csv", caen.columns_of(0xCAE1), events)
    run = run_all(tmp_path / "run", f"compass:{path}{keys}")
    kept = [e for e in events if not e["flags"] & out]
    assert [row[3][0] for row in rows_of(run)] == [e["energy"] for e in kept]
    ledger = read_ledger(run.output)
    assert dropped(ledger)["flagged"] == len(events) - len(kept) and ledger["hits_in"].sum() == len(events)
    assert not ledger["sources_missing"].any(), "nothing is missing"
    reported = run.done.stdout.splitlines()[-10:]
    expected = {"fake_events": 3, "saturated_events": 3, "pile_up_events": 3, "events_after_loss": 4}
    expected |= {"hits_dropped_flagged": len(events) - len(kept)} if out else {}
    line, = [line for line in reported if line.startswith("source 0")]
    assert {k: int(n) for k, n in (item.split() for item in line.split(": ")[1].split(", "))} == expected


def test_an_alarm_is_said(tmp_path):
    path = caen.compass_file(tmp_path / "a.bin", 0xCAE1, flagged_events())
    run = run_all(tmp_path / "run", f"compass:{path}", code=3)
    assert "an alarm of board 0: its clock has lost its lock" in run.done.stderr
    assert counts_of(run.report(), 0)["board_alarms"] == 1
    refused(f"compass:{path}?drop=rollover", "fake, saturated, pileup, and none")


def test_fake_records_make_no_coincidences(tmp_path):
    events = []
    for n in range(100):
        events.append(dict(board=0, channel=1, time_ps=10**9 * (n + 1), energy=500, flags=0x4000))
        events.append(dict(board=0, channel=2, time_ps=10**9 * (n + 1) + 5000, energy=0, flags=FAKE | 2 if n % 2 else 0x4000))
    path = caen.compass_file(tmp_path / "a.bin", 0xCAE1, events)
    for keys, n in (("", 50), ("?drop=none", 100)):
        out = tmp_path / f"run{n}.h5"
        eventloom("run", "--source", f"compass:{path}{keys}", "--define", "coincidence:25ns,channel:1>=1&&channel:2>=1", "--output", out)
        eventloom("merge", out, "--output", tmp_path / f"merged{n}.h5")
        with h5py.File(tmp_path / f"merged{n}.h5") as file:
            assert len(file["events/time"]) == n


def test_convert_keeps_what_is_kept(tmp_path):
    """Records left out by choice are not damage."""
    path = caen.compass_file(tmp_path / "a.bin", 0xCAE1, [e for e in flagged_events() if not e["flags"] & 0x80000])
    eventloom("convert", f"compass:{path}", "--output", tmp_path / "a.epochs")
    direct = run_all(tmp_path / "direct", f"compass:{path}")
    assert rows_of(run_all(tmp_path / "run", tmp_path / "a.epochs")) == rows_of(direct)


def test_the_example_of_the_page_of_histograms(tmp_path):
    """Two germanium detectors and a plastic scintillator: the commands of the page, and the same spectra by numpy."""
    choose = np.random.default_rng(38)
    emitted = np.sort(choose.integers(10**6, 10**9, 3000)) * 1000
    hits = []  # (time in ns, source, energy in keV)
    (tmp_path / "RAW").mkdir()
    for source, (delay, gain) in enumerate(((20_000, 0.5), (35_000, 0.5), (0, 1))):
        seen = emitted[choose.random(len(emitted)) < 0.6]
        times = np.sort(np.concatenate([seen + delay + choose.integers(0, 9000, len(seen)), choose.integers(0, 10**12, 2000)]))
        energies = choose.integers(0, 7000, len(times))
        caen.compass_file(tmp_path / "RAW" / f"DataR_CH{source}@DT5730_1463_run_1.BIN", 0xCAE5, [
            {"board": 0, "channel": source, "time_ps": t, "energy": e} for t, e in zip(times.tolist(), energies.tolist())])
        hits += [((t + 500) // 1000, source, gain * e) for t, e in zip(times.tolist(), energies.tolist())]
    block = next(text for text in blocks("app/view/hist/README.md", "sh") if "RAW" in text)
    done = subprocess.run(["bash", "-e", "-c", block.replace("8080", "0")], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          env=environment() | {"PATH": f"{Path(BINARY).resolve().parent}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    assert "matrix" in (tmp_path / "run.html").read_text()

    time, source, energy = (np.array(column) for column in zip(*sorted(hits)))
    germanium = source < 2
    begin, end = np.searchsorted(time, time), np.searchsorted(time, time + 200, "right")
    sums = np.append(0, np.cumsum(germanium))
    of_germanium = sums[end] - sums[begin]
    accepted = np.flatnonzero((of_germanium >= 1) & (end - begin > of_germanium))
    first = np.insert(time[accepted][1:] > time[accepted][:-1] + 200, 0, True)
    delays, pairs = [], []
    for window in np.split(accepted, np.flatnonzero(first)[1:]):
        event = slice(begin[window[0]], end[window[-1]])
        of = [(time[event][source[event] == s], energy[event][source[event] == s]) for s in range(3)]
        delays += [t - start for start in of[2][0] for s in (0, 1) for t in of[s][0]]
        pairs += [(a, b) for a in of[0][1] for b in of[1][1]]
    assert len(delays) > 2000 and len(pairs) > 500
    axes = {"energy": ([energy[germanium]], [(0, 3000, 3000)]), "delay": ([delays], [(-200, 200, 400)]),
            "matrix": (zip(*pairs), [(0, 3000, 300)] * 2)}
    with h5py.File(tmp_path / "run.h5") as file:
        for name, (columns, bins) in axes.items():
            edges = [np.linspace(low, high, n + 1) for low, high, n in bins]
            inside = np.array(list(columns), dtype=float).T
            inside = inside[(inside < [high for _, high, _ in bins]).all(axis=1)]
            assert np.array_equal(file[f"histograms/{name}/counts"][:], np.histogramdd(inside, edges)[0]), name
