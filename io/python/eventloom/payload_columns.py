"""The columns of the payload: words of hits as numbers of their kinds, by the names that a run keeps."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Mapping, Sequence

import numpy as np

from .columns import FIRST_PAYLOAD, PAYLOAD, Array, Columns
from .errors import DamagedFile

_KINDS: dict[str, np.dtype[Any]] = {"u32": np.dtype("<u4"), "i32": np.dtype("<i4"), "f32": np.dtype("<f4"), "f64": np.dtype("<f8")}
_TAKEN = {"event", "time", "channel", "source", "value", "dt", "name", "group", "payload", "payload_words"}  # fields of hits
_WORD = re.compile(r"payload_\d+")


@dataclass(frozen=True)
class PayloadColumn:
    """A column of the payload: its words follow `first_word` words of other columns."""

    name: str
    kind: np.dtype[Any]
    first_word: int

    def of_hits(self, columns: Columns) -> tuple[Array, Array]:
        """A number for each hit, NaN or 0 where it has no such words, and whether it has them."""
        first = columns[FIRST_PAYLOAD].astype(np.int64)
        words = self.kind.itemsize // 4
        there: Array = np.diff(first) >= self.first_word + words
        places = (first[:-1][there] + self.first_word)[:, np.newaxis] + np.arange(words)
        values: Array = np.full(len(there), np.nan if self.kind.kind == "f" else 0, dtype=self.kind)
        values[there] = np.ascontiguousarray(columns[PAYLOAD].astype("<u4")[places]).view(self.kind)[:, 0]
        return values, there


def payload_columns(attributes: Mapping[str, Any], run_file: object) -> tuple[PayloadColumn, ...]:
    """The columns that the attributes of a run name; none if its sources have different ones.

    A name that is already that of another field of hits is preceded by `payload_`.
    """
    names, types = ([str(text) for text in np.atleast_1d(attributes.get(key, ()))] for key in ("payload_names", "payload_types"))
    if len(names) != len(types) or not set(types) <= set(_KINDS):
        raise DamagedFile(f"'{run_file}' is damaged: its payload_names and payload_types disagree")
    taken = set(_TAKEN)
    found: list[PayloadColumn] = []
    word = 0
    for name, kind in zip(names, (_KINDS[text] for text in types)):
        while name in taken or _WORD.fullmatch(name):
            name = f"payload_{name}"
        taken.add(name)
        found.append(PayloadColumn(name, kind, word))
        word += kind.itemsize // 4
    return tuple(found)


def named_for_root(columns: Sequence[PayloadColumn]) -> tuple[PayloadColumn, ...]:
    """The same columns by names that ROOT takes in expressions: letters, digits and underscores."""
    found: list[PayloadColumn] = []
    for column in columns:
        name = re.sub(r"[^A-Za-z0-9_]", "_", column.name)
        while any(name == other.name for other in found):
            name += "_"
        found.append(replace(column, name=name))
    return tuple(found)
