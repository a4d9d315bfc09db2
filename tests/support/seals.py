"""Checksums of the contents of an HDF5 file (io/hdf5/seal.hpp), recomputed after a change."""

import zlib

import h5py
import numpy as np


def seal_values(file, name):
    if "crc32" in file[name].attrs:
        file[name].attrs["crc32"] = np.uint64(zlib.crc32(file[name][:].tobytes()))


def datasets_of(file):
    """Names of the datasets in the root and in groups, except those of the NeXus entry, which are the same."""
    names = []
    file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    yield from (name for name in names if name.split("/")[0] != "entry")


def contents_of(value):
    """The bytes of an attribute that have a checksum; None for other types."""
    value = np.atleast_1d(value)
    if value.dtype.kind in "OSU":
        return b"".join((text if isinstance(text, bytes) else text.encode()) + b"\0" for text in value.tolist())
    return value.astype("<u8").tobytes() if value.dtype.kind in "iu" else None


def seal_root(file):
    """The list of a file's datasets, and the checksums of the attributes of its root."""
    file.attrs["datasets"] = sorted(f"/{name} {file[name].size} {int(file[name].attrs['crc32']):08x}"
                                    for name in datasets_of(file) if "crc32" in file[name].attrs)
    sums = {name: contents_of(value) for name, value in file.attrs.items() if name != "attributes_crc32"}
    file.attrs["attributes_crc32"] = np.array([zlib.crc32(of) for name, contents in sums.items() if contents is not None
                                               for of in (name.encode(), contents)], dtype=np.uint64)


def seal(file):
    """All checksums of a file, except those that run.h5 has of a part."""
    for name in datasets_of(file):
        seal_values(file, name)
    seal_root(file)


def unseal(file):
    """Removes all checksums, as earlier versions wrote files."""
    for name in list(datasets_of(file)):
        file[name].attrs.pop("crc32", None)
    for name in ("datasets", "attributes_crc32"):
        file.attrs.pop(name, None)
    if "parts" in file:
        file["parts"].pop("datasets_crc32", None)
