"""MIDAS runs of several front ends: what is not of the selected one is counted by id, and is no damage of it."""

import json
import re
import struct

import pytest

import midas
from program import Run, eventloom, only_line
from results import assert_balanced, dropped, read_ledger, read_merged

TAG = ("--define", "tag")


def fixed(serial, data, ident=10, seconds=1_700_000_000):
    """An event in a format of the front end's own."""
    return struct.pack("<HHIII", ident, 0, serial, seconds, len(data)) + data


def message(text=b"hello"):
    """Its mask is the kind of the message."""
    return struct.pack("<HHIII", 0x8002, 4, 0, 1_700_000_000, len(text)) + text


def banked(serial, ident=1, form="32"):
    return midas.encode(midas.Event(serial, [midas.Bank("DATA", struct.pack("<II", serial, 7))], ident), form)


def numbers_of(run):
    merged = read_merged(run.merged)
    assert not merged["events/flags"].any()
    return merged["events/time"].tolist()


SLOW = struct.pack("<6f", 0, 1.5, 3, 4.5, 6, 7.5)


@pytest.mark.parametrize("form", ["16", "32", "32a"])
@pytest.mark.parametrize("given", [True, False])
def test_records_of_other_front_ends(tmp_path, form, given):
    """Floats without banks, one after the other, no data at all, broken banks, messages, and dumps of the database."""
    parts, others = [midas.of_logger(0x8000, 5), fixed(1, SLOW, 12)], {"10": 0, "11": 0, "12": 1, "13": 0}
    for k in range(1, 201):
        parts.append(banked(k, form=form))
        if k % 20 == 0:
            parts += [fixed(k, SLOW), fixed(k + 1, SLOW[:k % 24])]
            others["10"] += 2
        if k % 50 == 0:
            parts += [fixed(k // 50, b"", 11), message()]
            others["11"] += 1
        if k == 77:
            parts.append(banked(5, 13)[:32] + b"\xff\xff" + banked(5, 13)[34:])  # the length of a bank
            others["13"] += 1
    path = tmp_path / "r.mid"
    path.write_bytes(b"".join([*parts, midas.of_logger(0x8001, 5)]))
    run = Run(tmp_path / "run", [f"midas:{path}{'?event=1' if given else ''}"], *TAG)
    assert numbers_of(run) == list(range(1, 201))
    told = next(line for line in run.done.stderr.splitlines() if "skipped" in line)
    assert "those of id 1 are read" in told and ("warning" in told) == (not given)
    assert all(f"id {ident} ({n})" in told for ident, n in others.items()), told
    assert re.search(rf"elements skipped in inputs +{sum(others.values()) + 4}\n", run.done.stdout + run.done.stderr)
    seen = json.loads(eventloom("inspect", path, "--json").stdout)
    assert seen["event_ids"] == {"1": 200, **others} and not seen["damaged"]
    assert seen["skipped_elements"] == sum(others.values()) + 4  # and the messages


def test_events_without_data_of_the_selected_front_end(tmp_path):
    """One without a byte has no banks; bytes that are no banks are lost."""
    path = tmp_path / "r.mid"
    path.write_bytes(b"".join([banked(1), fixed(2, b"", 1), banked(3), fixed(4, SLOW, 1), banked(5)]))
    run = Run(tmp_path / "run", [f"{path}"], *TAG, code=3)
    merged = read_merged(run.merged)
    assert merged["hits/time"].tolist() == [1, 2, 3, 5]
    assert merged["hits/channel"].tolist()[1] == 0x0FFFFFFF
    ledger = read_ledger(run.output)
    assert_balanced(ledger)
    assert dropped(ledger)["corrupt"] == 1
    assert "an event without banks is dropped: 24 bytes in format FIXED" in run.done.stderr


def test_damage_of_the_framing_is_damage(tmp_path):
    """Whoever's events it falls on: an unknown number of the selected ones may be missing. A tail of zeros is no event."""
    good = [banked(k) if k % 5 else fixed(k, SLOW) for k in range(1, 60)]
    for n, (at, bad) in enumerate([(20, b"\x55" * 17 + good[20][17:]), (19, good[19][:-5]), (58, good[58] + bytes(4096))]):
        path = tmp_path / f"{n}.mid"
        path.write_bytes(b"".join([*good[:at], bad, *good[at + 1:]]))
        run = Run(tmp_path / f"run{n}", [f"midas:{path}?event=1"], *TAG, code=3)
        kept = read_merged(run.merged)["events/time"].tolist()
        assert set(kept) <= {k for k in range(1, 60) if k % 5} and len(kept) >= 45
        assert "expected an event" in run.done.stderr


def test_a_front_end_that_is_not_there(tmp_path):
    path = midas.midas_file(tmp_path / "a.mid", [midas.Event(k, [midas.Bank("ADC0", b"1234")]) for k in range(9)])
    run = Run(tmp_path / "run", [f"midas:{path}?event=7"], *TAG, code=None)
    assert "skipped: id 1 (9)" in run.done.stderr
    (tmp_path / "swapped.mid").write_bytes(struct.pack(">HHIII", 1, 0, 1, 1_700_000_000, 24) + bytes(24))
    only_line(eventloom("run", "--source", tmp_path / "swapped.mid", *TAG, "--output", tmp_path / "o.h5", code=2), "little-endian")
