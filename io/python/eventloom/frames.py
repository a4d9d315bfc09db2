"""Converts columns to awkward arrays and pandas frames."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .columns import EVENT_COLUMNS, FIRST_PAYLOAD, HIT_COLUMNS, PAYLOAD, Array, Columns


class Frames(NamedTuple):
    """Two pandas frames: one row per event, and one row per hit."""

    events: Any
    hits: Any


def _short(names: tuple[str, ...]) -> dict[str, str]:
    """Maps column names without their groups to full names."""
    return {name.partition("/")[2]: name for name in names}


def since_first_hit(columns: Columns) -> Array:
    """Times of hits less those of the first hits of their events: signed, so that differences of them may be negative."""
    of_events: Array = np.repeat(columns["events/time"], columns["events/n_hits"].astype(np.int64))
    since: Array = (columns["hits/time"] - of_events).astype(np.int64)
    return since


def awkward_array(columns: Columns) -> Any:
    import awkward

    hits = {short: columns[name] for short, name in _short(HIT_COLUMNS).items()}
    hits["dt"] = since_first_hit(columns)
    if PAYLOAD in columns:
        hits["payload"] = awkward.unflatten(columns[PAYLOAD], np.diff(columns[FIRST_PAYLOAD].astype(np.int64)))
    events = {short: columns[name] for short, name in _short(EVENT_COLUMNS).items()}
    events["hits"] = awkward.unflatten(awkward.zip(hits, depth_limit=1), columns["events/n_hits"])
    return awkward.zip(events, depth_limit=1)


def pandas_frames(columns: Columns) -> Frames:
    import pandas

    events = pandas.DataFrame({short: columns[name] for short, name in _short(EVENT_COLUMNS).items()})
    hits = pandas.DataFrame({short: columns[name] for short, name in _short(HIT_COLUMNS).items()})
    hits["dt"] = since_first_hit(columns)
    hits.insert(0, "event", np.repeat(events.index.to_numpy(), events["n_hits"]))
    if PAYLOAD in columns:
        for number, column in enumerate(_payload_columns(columns[FIRST_PAYLOAD].astype(np.int64), columns[PAYLOAD])):
            hits[f"payload_{number}"] = column
    return Frames(events, hits)


def _payload_columns(first: Array, words: Array) -> list[Any]:
    """A column with the first words of all hits, one with the second words, ...; <NA> for hits with fewer words."""
    import pandas

    found = []
    for number in range(int(np.diff(first).max(initial=0))):
        values, there = payload_word(first, words, number)
        found.append(values if there.all() else pandas.arrays.IntegerArray(values, ~there))
    return found


def payload_word(first: Array, words: Array, number: int) -> tuple[Array, Array]:
    """This payload word of each hit, 0 where there is none, and whether there is one. `first`: first words of the hits."""
    there: Array = np.diff(first) > number
    values: Array = np.zeros(len(there), dtype=np.uint32)
    values[there] = words[first[:-1][there] + number]
    return values, there
