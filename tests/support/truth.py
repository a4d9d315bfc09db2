"""The recordings in tests/data and the published results beside them."""

import csv
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from program import DATA
from recordings import read_csv, read_hdf5


@dataclass
class Recording:
    name: str
    path: Path
    truth: Path  # without ".hits.npz"
    rules: list  # (G, M) in ns
    overlap: int  # ns, longer than the longest event

    def uri(self):
        if self.path.suffix == ".h5":
            return f"hdf5:{self.path}?group=/dom_*&time=time&channel=channel&payload=tot&unit=ns"
        return f"csv:{self.path}/*.dat?time=2&channel=1&unit=ms&skip=3"

    def options(self):
        """Options of `eventloom run` for the time base of the recording."""
        return [] if self.path.suffix == ".h5" else ["--epoch", "500us", "--overlap", f"{self.overlap}ns"]

    def streams(self):
        if self.path.suffix == ".h5":
            return read_hdf5(self.path)[1]
        return [read_csv(path, time=2, channel=1, unit="ms", skip=3) for path in sorted(self.path.glob("*.dat"))]

    def source_names(self):
        """The number in the name of each source, in Eventloom's order of sources."""
        names = read_hdf5(self.path)[0] if self.path.suffix == ".h5" else [p.name for p in sorted(self.path.glob("*.dat"))]
        return np.array([int(re.search(r"\d+", name).group()) for name in names])

    def values(self, payload, n_hits):
        """The truth's `value` of each hit: its payload word, 0 where the recording has none."""
        return payload if len(payload) else np.zeros(n_hits, dtype=np.uint32)


def _km3net(run):
    folder = DATA / "km3net_orca4"
    return Recording(f"km3net_{run}", folder / f"orca4_run{run}.h5", folder / "truth" / f"orca4_run{run}_L1",
                     [(100, 10), (25, 4), (25, 6)], 10_000)


def _brunel(kind, rules):
    folder = DATA / "nest_brunel"
    return Recording(f"brunel_{kind}", folder / kind, folder / "truth" / f"brunel_{kind}", rules, 30_000_000)


RECORDINGS = [_km3net(6884), _km3net(6633), _brunel("grid", [(100_000, 100), (100_000, 20), (99_999, 50)]),
              _brunel("precise", [(20_000, 100), (5_000, 20), (50_000, 100)])]


def sorted_rows(time, source, channel, value):
    """Rows (time, source, channel, value) as int64, in that order."""
    rows = np.stack([np.asarray(column).astype(np.int64) for column in (time, source, channel, value)], axis=1)
    return rows[np.lexsort(rows.T[::-1])]


def assert_all_hits(recording, time, source, channel, value):
    """All hits of the recording, in any order; `source` by Eventloom's numbers."""
    with np.load(f"{recording.truth}.hits.npz") as file:
        expected = sorted_rows(*(file[name] for name in ("time", "source", "channel", "value")))
    assert np.array_equal(sorted_rows(time, recording.source_names()[source], channel, value), expected)


def assert_events(recording, gap, least, merged):
    """`merged`: datasets by name, of the events gap:G,M."""
    with open(f"{recording.truth}.events_G{gap}_M{least}.csv") as file:
        expected = [{name: int(text) for name, text in row.items()} for row in csv.DictReader(file)]
    assert len(merged["events/time"]) == len(expected)
    values = recording.values(merged.get("payload", ()), len(merged["hits/time"]))
    names = recording.source_names()[merged["hits/source"]]
    for number, row in enumerate(expected):
        hits = slice(merged["events/first_hit"][number], merged["events/first_hit"][number + 1])
        rows = sorted_rows(merged["hits/time"][hits], names[hits], merged["hits/channel"][hits], values[hits])
        assert {"nhits": len(rows), "t_first": int(rows[0, 0]), "t_last": int(rows[-1, 0]),
                "nsources": len(np.unique(rows[:, 1])), "sum_channel": int(rows[:, 2].sum()),
                "sum_value": int(rows[:, 3].sum()), "crc32_rows": zlib.crc32(rows.astype("<i8").tobytes())
                }.items() <= row.items(), f"event {number}: {row}"
    assert np.array_equal(merged["events/time"], [row["t_first"] for row in expected])
    assert np.array_equal(merged["events/duration"], [row["t_last"] - row["t_first"] for row in expected])
    assert not merged["events/flags"].any()
