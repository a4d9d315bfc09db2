"""Writes events to files of other formats: ROOT, by uproot, and Parquet, by pyarrow. Both need awkward."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence

import numpy as np

from .channel_names import ChannelNames
from .columns import FIRST_PAYLOAD, PAYLOAD, Array, Columns
from .frames import awkward_array, labels_of, payload_word
from .partial_file import PartialFile
from .payload_columns import PayloadColumn, named_for_root

KINDS_IN_ROOT = ("ttree", "rntuple")
Writer = Callable[[Path], None]  # overwrites this file

# By these, `eventloom merge --to` recognises the files that it may replace: a TObjString at the beginning of a ROOT file, a
# key in the metadata of a Parquet file. See app/view/merge/exported_file.cpp.
MARK, MARK_TEXT = "eventloom", "events that Eventloom built"


def root_writer(chunks: Iterable[Columns], payload_words: int, kind: str, names: Optional[ChannelNames],
                payload: Sequence[PayloadColumn]) -> Writer:
    """`chunks`: at least one. `payload_words`: the largest number of payload words of a hit, for a TTree."""
    import awkward
    import uproot

    payload = named_for_root(payload)

    def write(path: Path) -> None:
        with uproot.recreate(path) as file:
            file[MARK] = MARK_TEXT
            events = None
            for columns in chunks:
                array = (_flat_fields(columns, payload_words, names, payload) if kind == "ttree" else
                         awkward_array(columns, names, payload))
                if kind == "ttree" and events is None:
                    events = file.mktree("events", {name: field.type.content for name, field in array.items()})
                if events is None:
                    events = file.mkrntuple("events", array)
                else:
                    events.extend(array)
            if kind == "ttree" and names:
                for name, texts in names.texts.items():
                    file[f"{name}s"] = {name: awkward.Array(texts)}

    return write


def parquet_writer(chunks: Iterable[Columns], names: Optional[ChannelNames], payload: Sequence[PayloadColumn]) -> Writer:
    """`chunks`: at least one. The names are plain texts, which Parquet stores as a dictionary and indices: not all programs
    can read lists of a dictionary type.
    """
    import awkward
    import pyarrow.parquet

    def write(path: Path) -> None:
        arrays = (awkward_array(columns, names, payload) for columns in chunks)
        tables = (awkward.to_arrow_table(array, extensionarray=False) for array in arrays)
        first = next(tables)
        schema = first.schema.with_metadata({**(first.schema.metadata or {}), MARK: MARK_TEXT})
        with pyarrow.parquet.ParquetWriter(path, schema) as file:
            for table in itertools.chain([first], tables):
                file.write_table(table.replace_schema_metadata(schema.metadata))

    return write


def publish(file: PartialFile, write: Writer) -> None:
    """Writes a file and gives it its name."""
    try:
        write(file.partial_path)
        file.publish()
    finally:
        file.discard()


def _flat_fields(columns: Columns, payload_words: int, names: Optional[ChannelNames],
                 payload: Sequence[PayloadColumn]) -> dict[str, Any]:
    """The fields of events for a TTree, which has neither lists of lists nor lists of texts: a field of `hits` for each payload
    word, and numbers of the names.
    """
    import awkward

    array = awkward_array(columns, payload=payload)
    hits = {name: array.hits[name] for name in array.hits.fields if name != "payload"}
    lengths = columns["events/n_hits"]
    for name, labels in labels_of(columns, names).items():
        hits[name] = awkward.unflatten(labels.codes, lengths)
    if PAYLOAD in columns:
        for name, values in _words(columns[FIRST_PAYLOAD].astype(np.int64), columns[PAYLOAD], payload_words):
            hits[name] = awkward.unflatten(values, lengths)
    fields = {name: array[name] for name in array.fields if name not in ("hits", "n_hits")}
    return {**fields, "hits": awkward.zip(hits, depth_limit=2)}


def _words(first: Array, words: Array, most: int) -> Iterator[tuple[str, Array]]:
    """The number of payload words of each hit, and then its first word, its second, ...; 0 where it has fewer."""
    yield "payload_words", np.diff(first).astype(np.uint32)
    for number in range(most):
        yield f"payload_{number}", payload_word(first, words, number)[0]
