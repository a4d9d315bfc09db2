"""Readers of foreign recordings: one stream of hits per source, in recorded order; sources in the order of their
names."""

from decimal import Decimal
from pathlib import Path

import h5py

from reference import PICOSECONDS, hits_of


def read_hdf5(path, payload="tot"):
    """Groups dom_* with datasets time (ns), channel and `payload`: ([names], [streams])."""
    with h5py.File(path) as file:
        names = sorted(name for name in file if name.startswith("dom_"))
        return names, [hits_of(file[n]["time"][:], file[n]["channel"][:], payload=file[n][payload][:]) for n in names]


def read_csv(path, time, channel, unit="tick", skip=0, tick_ps=1000):
    """Columns, counted from 1, of one text file; decimal times are converted exactly."""
    scale = 1 if unit == "tick" else Decimal(PICOSECONDS[unit]) / tick_ps
    rows = [line.replace(",", " ").split() for line in Path(path).read_text().splitlines()[skip:]]
    times = [int(Decimal(row[time - 1]) * scale) for row in rows]
    return hits_of(times, [int(row[channel - 1]) for row in rows])


def write_csv(path, times, channels):
    """Writes a file for `csv:PATH?time=1&channel=2&unit=tick`."""
    Path(path).write_text("".join(f"{t},{c}\n" for t, c in zip(times, channels)))
