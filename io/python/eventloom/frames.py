"""Converts columns to awkward arrays and pandas frames."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

from .channel_names import ChannelNames, Labels
from .columns import EVENT_COLUMNS, FIRST_PAYLOAD, HIT_COLUMNS, PAYLOAD, VALUE, Array, Columns
from .payload_columns import PayloadColumn


class Frames(NamedTuple):
    """Two pandas frames: one row per event, and one row per hit."""

    events: Any
    hits: Any


def _short(names: tuple[str, ...]) -> dict[str, str]:
    """Maps column names without their groups to full names."""
    return {name.partition("/")[2]: name for name in names}


def _columns_of_hits(columns: Columns) -> Columns:
    """One value per hit: its columns by their short names, `value` if the run has values, and `dt`."""
    names = _short((*HIT_COLUMNS, VALUE) if VALUE in columns else HIT_COLUMNS)
    return {short: columns[name] for short, name in names.items()} | {"dt": since_first_hit(columns)}


def since_first_hit(columns: Columns) -> Array:
    """Times of hits less those of the first hits of their events: signed, so that differences of them may be negative."""
    of_events: Array = np.repeat(columns["events/time"], columns["events/n_hits"].astype(np.int64))
    since: Array = (columns["hits/time"] - of_events).astype(np.int64)
    return since


def labels_of(columns: Columns, names: Optional[ChannelNames]) -> dict[str, Labels]:
    """The names and groups of the hits; without `names`, nothing."""
    return names.of_hits(columns["hits/source"], columns["hits/channel"]) if names else {}


def awkward_array(columns: Columns, names: Optional[ChannelNames] = None, payload: Sequence[PayloadColumn] = ()) -> Any:
    """Hits have a field for each column of `payload`; with `names`, also the categorical fields `name` and `group`."""
    import awkward

    hits: dict[str, Any] = dict(_columns_of_hits(columns))
    hits.update({name: _categorical(labels) for name, labels in labels_of(columns, names).items()})
    if PAYLOAD in columns:
        hits.update({column.name: column.of_hits(columns)[0] for column in payload})
        hits["payload"] = awkward.unflatten(columns[PAYLOAD], np.diff(columns[FIRST_PAYLOAD].astype(np.int64)))
    events = {short: columns[name] for short, name in _short(EVENT_COLUMNS).items()}
    events["hits"] = awkward.unflatten(awkward.zip(hits, depth_limit=1), columns["events/n_hits"])
    return awkward.zip(events, depth_limit=1)


def _categorical(labels: Labels) -> Any:
    import awkward

    index = awkward.index.Index64(labels.codes.astype(np.int64))
    texts = awkward.to_layout(awkward.from_iter(labels.texts))
    return awkward.Array(awkward.contents.IndexedArray(index, texts, parameters={"__array__": "categorical"}))


def pandas_frames(columns: Columns, names: Optional[ChannelNames] = None, payload: Sequence[PayloadColumn] = ()) -> Frames:
    """Hits have each column of `payload`; with `names`, also the categorical columns `name` and `group`."""
    import pandas

    events = pandas.DataFrame({short: columns[name] for short, name in _short(EVENT_COLUMNS).items()})
    hits = pandas.DataFrame(_columns_of_hits(columns))
    for name, labels in labels_of(columns, names).items():
        hits[name] = pandas.Categorical.from_codes(labels.codes, labels.texts)
    hits.insert(0, "event", np.repeat(events.index.to_numpy(), events["n_hits"]))
    if PAYLOAD in columns:
        for known in payload:
            hits[known.name] = _with_gaps(*known.of_hits(columns))
        for number, column in enumerate(_payload_columns(columns[FIRST_PAYLOAD].astype(np.int64), columns[PAYLOAD])):
            hits[f"payload_{number}"] = column
    return Frames(events, hits)


def _payload_columns(first: Array, words: Array) -> list[Any]:
    """A column with the first words of all hits, one with the second words, ...; <NA> for hits with fewer words."""
    return [_with_gaps(*payload_word(first, words, number)) for number in range(int(np.diff(first).max(initial=0)))]


def _with_gaps(values: Array, there: Array) -> Any:
    """Integers with <NA> where they are not `there`; other numbers as they are."""
    import pandas

    return values if there.all() or values.dtype.kind == "f" else pandas.arrays.IntegerArray(values, ~there)


def payload_word(first: Array, words: Array, number: int) -> tuple[Array, Array]:
    """This payload word of each hit, 0 where there is none, and whether there is one. `first`: first words of the hits."""
    there: Array = np.diff(first) > number
    values: Array = np.zeros(len(there), dtype=np.uint32)
    values[there] = words[first[:-1][there] + number]
    return values, there
