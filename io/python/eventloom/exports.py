"""Writes events to files of other formats: ROOT, by uproot, and Parquet, by pyarrow. Both need awkward."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Iterable, Iterator

import numpy as np

from .columns import FIRST_PAYLOAD, PAYLOAD, Array, Columns
from .frames import awkward_array, payload_word
from .partial_file import PartialFile

KINDS_IN_ROOT = ("ttree", "rntuple")


def write_root(path: Path, chunks: Iterable[Columns], payload_words: int, kind: str, overwrite: bool) -> None:
    """`chunks`: at least one. `payload_words`: the largest number of payload words of a hit, for a TTree."""
    import uproot

    def write(partial: Path) -> None:
        with uproot.recreate(partial) as file:
            events = None
            for columns in chunks:
                array = _flat_fields(columns, payload_words) if kind == "ttree" else awkward_array(columns)
                if kind == "ttree" and events is None:
                    events = file.mktree("events", {name: field.type.content for name, field in array.items()})
                if events is None:
                    events = file.mkrntuple("events", array)
                else:
                    events.extend(array)

    _publish(PartialFile(path, b"root", overwrite, "a ROOT file"), write)


def write_parquet(path: Path, chunks: Iterable[Columns], overwrite: bool) -> None:
    """`chunks`: at least one."""
    import awkward
    import pyarrow.parquet

    def write(partial: Path) -> None:
        tables = (awkward.to_arrow_table(awkward_array(columns), extensionarray=False) for columns in chunks)
        first = next(tables)
        with pyarrow.parquet.ParquetWriter(partial, first.schema) as file:
            file.write_table(first)
            for table in tables:
                file.write_table(table)

    _publish(PartialFile(path, b"PAR1", overwrite, "a Parquet file"), write)


def _publish(file: PartialFile, write: Callable[[Path], None]) -> None:
    try:
        write(file.partial_path)
        file.publish()
    finally:
        file.discard()


def _flat_fields(columns: Columns, payload_words: int) -> dict[str, Any]:
    """The fields of events for a TTree, which has no lists of lists: a field of `hits` for each payload word."""
    import awkward

    array = awkward_array(columns)
    hits = {name: array.hits[name] for name in array.hits.fields if name != "payload"}
    if PAYLOAD in columns:
        lengths = columns["events/n_hits"]
        for name, values in _words(columns[FIRST_PAYLOAD].astype(np.int64), columns[PAYLOAD], payload_words):
            hits[name] = awkward.unflatten(values, lengths)
    fields = {name: array[name] for name in array.fields if name not in ("hits", "n_hits")}
    return {**fields, "hits": awkward.zip(hits, depth_limit=2)}


def _words(first: Array, words: Array, most: int) -> Iterator[tuple[str, Array]]:
    """The number of payload words of each hit, and then its first word, its second, ...; 0 where it has fewer."""
    yield "payload_words", np.diff(first).astype(np.uint32)
    for number in range(most):
        yield f"payload_{number}", payload_word(first, words, number)[0]
