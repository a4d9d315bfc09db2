"""MIDAS runs of several front ends: records of other front ends than the selected one are counted by id, and are not
damage."""

import json
import re
import struct

import numpy as np
import pytest

import midas
from program import Run, eventloom, only_line
from results import assert_balanced, dropped, read_ledger, read_merged
from test_inputs import refused, rows_of, run_all

TAG = ("--define", "tag")


def fixed(serial, data, ident=10, seconds=1_700_000_000):
    """An event in the front end's own format."""
    return struct.pack("<HHIII", ident, 0, serial, seconds, len(data)) + data


def message(text=b"hello"):
    """Its mask is the type of the message."""
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
    """Floats without banks, one after another, no data at all, broken banks, messages, and dumps of the database."""
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
    reported = next(line for line in run.done.stderr.splitlines() if "skipped" in line)
    assert "those of id 1 are read" in reported and ("warning" in reported) == (not given)
    assert all(f"id {ident} ({n})" in reported for ident, n in others.items()), reported
    assert re.search(rf"elements skipped in inputs +{sum(others.values()) + 4}\n", run.done.stdout + run.done.stderr)
    seen = json.loads(eventloom("inspect", path, "--json").stdout)
    assert seen["event_ids"] == {"1": 200, **others} and not seen["damaged"]
    assert seen["skipped_elements"] == sum(others.values()) + 4  # and the messages


def test_events_without_data_of_the_selected_front_end(tmp_path):
    """An event without any byte has no banks; bytes that are not banks are lost."""
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
    """Damage may affect events of any front end: an unknown number of the selected ones may be missing. A tail of zeros
    is not an event."""
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


# ---- many hits in a bank

RECORD = np.dtype([("time", "<u4"), ("turn", "<u2"), ("channel", "u1"), ("energy", "<i2"), ("wide", "<f4")])
KEYS = "bank=HITS&record=13&time=u16le@4<<32|u32le@0&channel=u8@6&payload=i16le@7,f32le@9"


def recorded(n_events, per_event, first=0):
    """Records of events, and their events with banks beside them; times ascend by event, and are unordered within
    one."""
    random = np.random.default_rng(n_events + per_event)
    events, records = [], []
    for k in range(n_events):
        some = np.zeros(int(random.integers(0, per_event + 1)), dtype=RECORD)
        time = first + 10_000 * k + random.permutation(9_000)[:len(some)]
        some["time"], some["turn"] = time & 0xFFFFFFFF, time >> 32
        some["channel"], some["energy"] = random.integers(0, 256, len(some)), random.integers(-2**15, 2**15, len(some))
        some["wide"] = random.normal(size=len(some))
        half = len(some) // 2
        banks = [midas.Bank("ADC0", bytes(7)), midas.Bank("HITS", some[:half].tobytes()), midas.Bank("HITS", some[half:].tobytes())]
        events.append(midas.Event(k + 1, banks if k % 10 else banks[:1]))
        records.append(some if k % 10 else some[:0])
    return events, records


def rows_of_records(records, time=None):
    """(time, channel, payload words), sorted."""
    found = []
    for k, some in enumerate(records):
        words = np.stack([some["energy"].astype("<i4").view("<u4"), some["wide"].copy().view("<u4")], axis=1)
        times = [k + 1] * len(some) if time is None else (some["turn"].astype("u8") << np.uint64(32) | some["time"]).tolist()
        found += [(time(t) if time else t, c, tuple(w)) for t, c, w in zip(times, some["channel"].tolist(), words.tolist())]
    return sorted(found)


def rows_of_run(run):
    return sorted((t, c, w) for t, _, c, w in rows_of(run))


@pytest.mark.parametrize("form", ["16", "32", "32a"])
def test_records_in_a_bank(tmp_path, form):
    """Records have their own times, across the 32 bits of the first field."""
    events, records = recorded(300, 40, first=2**32 - 1_500_000)
    path = midas.midas_file(tmp_path / "r.mid", events, form)
    run = run_all(tmp_path / "run", f"midas:{path}?{KEYS}")
    assert rows_of_run(run) == rows_of_records(records, lambda t: t)
    assert run_all(tmp_path / "ticks", f"midas:{path}?{KEYS}&unit=25/2ns&round=down")
    assert rows_of_run(run_all(tmp_path / "half", f"midas:{path}?{KEYS}&unit=25/2ns&round=down")) == \
        rows_of_records(records, lambda t: 25 * t // 2)
    seen = json.loads(eventloom("inspect", f"midas:{path}?{KEYS}", "--json").stdout)
    assert seen["hits"] == sum(map(len, records)) and "a hit per record of 13 bytes in the bank HITS" in seen["header"]["contents"]


def test_records_by_event_number(tmp_path):
    """Records without their own time have the event's."""
    events, records = recorded(200, 30)
    path = midas.midas_file(tmp_path / "r.mid", events)
    keys = "bank=HITS&record=13&channel=u8@6&payload=i16le@7,f32le@9"
    run = Run(tmp_path / "run", [f"midas:{path}?{keys}"], *TAG)
    assert rows_of_run(run) == rows_of_records(records)
    merged = read_merged(run.merged)
    assert merged["events/n_hits"].tolist() == [len(some) for some in records if len(some)]
    assert_balanced(read_ledger(run.output))


def test_two_banks_of_a_file(tmp_path):
    """One source each, at event times in a bank; the records follow a header in the bank."""
    events = []
    for k in range(50):
        one = bytes([1, 2, 3]) + b"".join(struct.pack("<BH", k % 7, n) for n in range(k % 4))
        two = struct.pack("<HBH", 9, 5, k)
        events.append(midas.Event(k, [midas.Bank("TIME", struct.pack("<I", 100 * k)), midas.Bank("AAAA", one), midas.Bank("BBBB", two)]))
    path = midas.midas_file(tmp_path / "r.mid", events)
    uris = [f"midas:{path}?time=TIME:0&bank={name}&record={size}&skip={skip}&{channel}&payload={payload}" for name, size, skip, channel, payload
            in (("AAAA", 3, 3, "channel=u8@0", "u16le@1"), ("BBBB", 5, 0, "fixed-channel=77", "u16le@3"))]
    expected = [(100 * k, 0, k % 7, (n,)) for k in range(50) for n in range(k % 4)] + [(100 * k, 1, 77, (k,)) for k in range(50)]
    assert sorted(rows_of(run_all(tmp_path / "run", *uris))) == sorted(expected)


def test_records_that_make_hits_or_mark_turns(tmp_path):
    """By the keys of packed: records of other kinds are counted, large ids get channels."""
    times = np.cumsum(np.random.default_rng(4).integers(1, 600, 400))
    rows, hits, turn = [], [], 0
    for n, t in enumerate(times.tolist()):
        if t // 1024 != turn:
            rows.append((t // 1024 - turn, 0, 9))
            turn = t // 1024
        rows.append((t % 1024, 2**40 + n % 3, n % 2))
        if n % 2 == 0:
            hits.append((t, 0, 10 + n % 3, ()))
    records = [struct.pack("<HQB", *row) for row in rows]
    events = [midas.Event(n, [midas.Bank("HITS", b"".join(records[n:n + 7]))]) for n in range(0, len(records), 7)]
    names = tmp_path / "ids.csv"
    names.write_text("".join(f"{2**40 + n},{10 + n}\n" for n in range(3)) + "0,0\n")
    path = midas.midas_file(tmp_path / "r.mid", events)
    keys = f"bank=HITS&record=11&time=u16le@0&channel=u64le@2&channels={names}&where=u8@10==0&overflow=u8@10==9&bits=10"
    run = run_all(tmp_path / "run", f"midas:{path}?{keys}")
    assert sorted(rows_of(run)) == hits
    assert dropped(read_ledger(run.output))["cut"] == len(times) - len(hits)
    refused(f"midas:{path}?bank=HITS&record=11&channel=u8@2&overflow=u8@10==9", "overflow=", "time=TYPE@OFFSET")
    refused(f"midas:{path}?where=u8@10==0", "'bank=' is missing")


def test_banks_that_end_inside_a_record(tmp_path):
    """Its other records are read; the incomplete one is a lost hit, as is a record whose channel does not fit."""
    events, records = recorded(40, 30)
    events[5].banks[1] = midas.Bank("HITS", events[5].banks[1].data + b"12345")
    path = midas.midas_file(tmp_path / "r.mid", events)
    run = run_all(tmp_path / "run", f"midas:{path}?{KEYS}", code=3)
    assert rows_of_run(run) == rows_of_records(records, lambda t: t)
    assert dropped(read_ledger(run.output))["corrupt"] == 1
    assert "a bank HITS ends 5 bytes into a record of 13" in run.done.stderr
    place = path.read_bytes().index(events[5].banks[1].data)
    assert f"offset {place}: " in run.done.stderr
    keys = KEYS.replace("channel=u8@6", "channel=u32le@6")
    run = Run(tmp_path / "wide", [f"midas:{midas.midas_file(tmp_path / 's.mid', recorded(40, 30)[0])}?{keys}"], "--define", "gap:0,1", code=3)
    wide = [int.from_bytes(record.tobytes()[6:10], "little") for some in records for record in some]
    assert dropped(read_ledger(run.output))["corrupt"] == sum(channel >= 2**28 for channel in wide)


@pytest.mark.parametrize("keys, words", [
    ("record=8&channel=u8@0", "'bank=' is missing"), ("fixed-channel=1", "'bank=' is missing"), ("time=u32le@0", "'bank=' is missing"),
    ("bank=HIT&record=8&channel=u8@0", "four characters"), ("bank=HITS&channel=u8@0", "'record=' is missing"),
    ("bank=HITS&record=8", "'channel=' is missing"), ("bank=HITS&record=8&channel=u8@9", "does not lie inside a record"),
    ("bank=HITS&record=8&channel=u8@0&time=u32le@1&number=word:1", "number= is valid only"),
    ("bank=HITS&record=8&channel=u8@0&drift=1ppm", "drift= is not valid where times are event numbers"),
    ("bank=HITS&record=8&channel=u8@0&time=HITS", "nor with bank= a field"),
])
def test_records_that_cannot_be(tmp_path, keys, words):
    refused(f"midas:{midas.midas_file(tmp_path / 'r.mid', recorded(3, 3)[0])}?{keys}", words)
