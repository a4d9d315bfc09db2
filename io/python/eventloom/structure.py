"""Checks the contents that a file of a run must have. ValueError states what is missing, without the file's name."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Type, TypeVar, get_type_hints

import h5py
import numpy as np

T = TypeVar("T")
_ENTRY = ("", "entry")  # group of the root that NeXus readers use


def datasets_of(file: h5py.File) -> dict[str, h5py.Dataset]:
    """The datasets of the root and of two levels of groups, by path, apart from those of a NeXus entry: links to others."""
    found = {}
    places: list[tuple[str, h5py.Group]] = [("", file)]
    for _ in range(3):
        items = {f"{place}/{name}": group.get(name) for place, group in places for name in group if (place, name) != _ENTRY}
        found.update({path: item for path, item in items.items() if isinstance(item, h5py.Dataset)})
        places = [(path, item) for path, item in items.items() if isinstance(item, h5py.Group)]
    return found


def column_of(file: h5py.File, name: str, kinds: str = "u") -> h5py.Dataset:
    """A one-dimensional dataset; `kinds`: numpy kinds that its type may have."""
    data = file.get(name)
    if not isinstance(data, h5py.Dataset) or len(data.shape or ()) != 1:
        raise ValueError(f"there is no column /{name}")
    if data.dtype.kind not in kinds:
        raise ValueError(f"/{name} has values of the type {data.dtype}")
    return data


def attributes_of(file: h5py.File) -> dict[str, Any]:
    """The attributes of the root: texts as str, numbers as int, arrays as lists."""
    return {name: _plain(value) for name, value in file.attrs.items()}


def attribute_of(file: h5py.File, name: str, kind: Type[T]) -> T:
    return expect_value({name: _plain(file.attrs[name])} if name in file.attrs else {}, name, kind)


def expect_value(values: Mapping[str, Any], name: str, kind: Type[T]) -> T:
    """The value `name`. Raises ValueError if it is missing or of another type."""
    if name not in values:
        raise ValueError(f"'{name}' is missing")
    value = values[name]
    if not isinstance(value, kind):
        raise ValueError(f"'{name}' is no {kind.__name__}, but {value!r:.60}")
    return value


def records_of(kind: Type[T], rows: Iterable[Mapping[str, Any]]) -> list[T]:
    """One dataclass per row, filled from the values named like its fields; further values are ignored."""
    fields = get_type_hints(kind).items()
    return [kind(**{name: expect_value(row, name, of) for name, of in fields}) for row in rows]


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    return value.item() if isinstance(value, np.generic) else value
