"""Reads and compares the output of the program."""

import h5py
import numpy as np

# Design contract, section 6.
EVENT_TYPES = {"events/time": "u8", "events/duration": "u8", "events/n_hits": "u4", "events/slice": "u8",
               "events/flags": "u4", "events/sources_missing": "u8", "events/first_hit": "u8",
               "hits/time": "u8", "hits/channel": "u4", "hits/source": "u2"}
PAYLOAD_TYPES = {"hits/first_payload": "u8", "payload": "u4"}
LEDGER_COLUMNS = ("hits_in", "hits_in_events", "hits_outside", "hits_rejected")


def read_merged(path):
    """The datasets of a merged file that do not depend on how the run was done, by name."""
    with h5py.File(path) as file:
        names = [f"{group}/{name}" for group in ("events", "hits") for name in file[group]]
        found = {name: file[name][:] for name in names if name != "events/slice"}
        if "payload" in file:
            found["payload"] = file["payload"][:]
    return found


def read_ledger(path):
    with h5py.File(path) as file:
        return {name: column[:] for name, column in file["ledger"].items()}


def ledger_rows(ledger):
    """{slice: (hits_in, in events, outside, rejected)} of the slices that have hits."""
    rows = zip(ledger["slice"], *(ledger[name] for name in LEDGER_COLUMNS))
    return {int(number): tuple(map(int, counts)) for number, *counts in rows if counts[0]}


def assert_builders(ledger, schedule, builders):
    """Each slice was built where its schedule (DESIGN.md, schedulers/README.md) says; `balanced` leaves that open."""
    slices, found = ledger["slice"], ledger["builder"]
    assert np.all(found < builders)
    if schedule.startswith("table:"):
        cycle = [*range(builders), 0]
        assert np.array_equal(found, np.array(cycle)[slices % len(cycle)])
    elif schedule != "balanced":
        assert np.array_equal(found, slices % builders)


def dropped(ledger):
    """{cause: hits of the whole run}"""
    prefix = "hits_dropped_"
    return {name.removeprefix(prefix): int(column.sum()) for name, column in ledger.items() if name.startswith(prefix)}


def assert_balanced(ledger):
    lost = sum(column for name, column in ledger.items() if name.startswith("hits_dropped_"))
    accounted = ledger["hits_in_events"] + ledger["hits_outside"] + ledger["hits_rejected"] + lost
    assert np.array_equal(ledger["hits_in"], accounted), "the ledger does not balance in every slice"
    assert len(np.unique(ledger["slice"])) == len(ledger["slice"]), "a slice has two rows in the ledger"


def assert_same(found, expected):
    """Equal names, types and bytes of all datasets; reports the first difference."""
    assert sorted(found) == sorted(expected)
    for name, values in expected.items():
        assert found[name].dtype == values.dtype, f"/{name} is {found[name].dtype}, not {values.dtype}"
        assert len(found[name]) == len(values), f"/{name} has {len(found[name])} elements, not {len(values)}"
        different = np.flatnonzero(found[name] != values)
        assert len(different) == 0, (f"/{name} differs in {len(different)} places, first at {different[0]}: "
                                     f"{found[name][different[0]]}, not {values[different[0]]}")


def assert_unfinished(folder):
    """After a failed run, at most run.h5 has its final name, and it is marked as not closed."""
    for path in folder.rglob("*.h5"):
        assert path.name == "run.h5", f"{path.name} has its final name"
        with h5py.File(path) as file:
            assert not file.attrs["closed"]


def event_keys(merged, unflagged_only=0):
    """Each event as a tuple of its hits (time, source, channel); without those that have a bit of `unflagged_only`."""
    rows = list(zip(merged["hits/time"].tolist(), merged["hits/source"].tolist(), merged["hits/channel"].tolist()))
    first = merged["events/first_hit"].tolist()
    return [tuple(rows[a:b]) for a, b, flags in zip(first, first[1:], merged["events/flags"]) if not flags & unflagged_only]
