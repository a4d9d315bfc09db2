"""Files as other tools write them, made by their description, and their definitions of events: rows of io/peers.md."""

import h5py
import numpy as np

from program import Run
from results import read_merged

HITS = ("--define", "gap:0,1")


def read(folder, uri, *options):
    """(time, channel, payload words) of all hits."""
    merged = read_merged(Run(folder / "run", [uri], *(options or HITS)).merged)
    words = merged["payload"].reshape(len(merged["hits/time"]), -1).tolist() if "payload" in merged else [[]] * len(merged["hits/time"])
    return list(zip(merged["hits/time"].tolist(), merged["hits/channel"].tolist(), words))


def test_photon_hdf5(tmp_path):
    """Timestamps count units that a dataset beside them states, in seconds."""
    stamps = np.array([3, 5, 5_000_000_001], dtype="i8")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        photons = file.create_group("photon_data")
        photons["timestamps"], photons["detectors"] = stamps, np.array([0, 1, 1], dtype="u1")
        photons["nanotimes"] = np.array([100, 200, 300], dtype="u2")
        photons["timestamps_specs/timestamps_unit"] = 12.5e-9
    uri = f"hdf5:{tmp_path}/a.h5?group=/photon_data&time=timestamps&channel=detectors&payload=nanotimes&unit=12.5ns"
    assert read(tmp_path, uri, *HITS, "--tick", "500ps") == [
        (int(stamp) * 25, channel, [nano]) for stamp, channel, nano in zip(stamps, (0, 1, 1), (100, 200, 300))]


def test_lh5(tmp_path):
    """A table of arrays with units; UTC in seconds as f64 has lost its ns, which round= accepts."""
    stamps = np.array([1_700_000_000.25, 1_700_000_000.5], dtype="f8")
    with h5py.File(tmp_path / "a.lh5", "w") as file:
        file["ch1/raw/timestamp"], file["ch1/raw/tick"] = stamps, np.array([16, 160], dtype="u4")
        file["ch1/raw/timestamp"].attrs["units"], file["ch1/raw/tick"].attrs["units"] = "s", "ns"
        file["ch1/raw/daqenergy"] = np.array([7, 9], dtype="u2")
        file["ch1/raw/timestamp"].attrs["datatype"] = "array<1>{real}"
        file["ch1/raw/cumulative_length"] = np.array([3, 5], dtype="u4")
    place = f"hdf5:{tmp_path}/a.lh5?group=/ch1/raw&fixed-channel=1&payload=daqenergy"
    assert read(tmp_path, place + "&time=tick") == [(16, 1, [7]), (160, 1, [9])]
    utc = place + "&time=timestamp&origin=2023-11-14T22:13:20Z&round=nearest"
    assert [time for time, *_ in read(tmp_path / "utc", utc)] == [250_000_000, 500_000_000]


def test_strax(tmp_path):
    """Hits are a table, whose fields have titles."""
    kind = np.dtype([(("Start time since unix epoch [ns]", "time"), "<i8"), (("Length of the interval in samples", "length"), "<i4"),
                     (("Channel/PMT number", "channel"), "<i2"), (("Integral [ADC x samples]", "area"), "<f4")])
    hits = np.zeros(3, dtype=kind)
    hits["time"], hits["channel"], hits["area"] = [100, 101, 900], [5, 6, 5], [0.5, 1.5, 2.5]
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["hits"] = hits
    found = read(tmp_path, f"hdf5:{tmp_path}/a.h5?time=hits/time&channel=hits/channel&payload=hits/area&unit=ns")
    assert [(time, channel, float(np.uint32(words[0]).view("f4"))) for time, channel, words in found] == [(100, 5, 0.5), (101, 6, 1.5), (900, 5, 2.5)]


def test_fields_of_both_byte_orders_in_one_record(tmp_path):
    """As hits of KM3NeT in a ROOT file: the frame's numbers are big-endian, the times of the hits little-endian."""
    (tmp_path / "a.bin").write_bytes(b"".join(
        (n + 7).to_bytes(4, "big") + bytes([n % 31]) + (1000 * n).to_bytes(4, "little") + bytes([40 + n]) for n in range(50)))
    found = read(tmp_path, f"packed:{tmp_path}/a.bin?record=10&time=u32le@5&channel=u8@4&payload=u32be@0,u8@9")
    assert found == [(1000 * n, n % 31, [n + 7, 40 + n]) for n in range(50)]


# Definitions


def table_of(folder, seed=0, n=5000, span=100_000):
    choose = np.random.default_rng(seed)
    times, channels = np.sort(choose.integers(0, span, n)), choose.integers(0, 8, n)
    (folder / "hits.csv").write_text("t_ns,ch\n" + "".join(f"{t},{c}\n" for t, c in zip(times.tolist(), channels.tolist())))
    return times


def sizes(folder, *options):
    merged = read_merged(Run(folder / options[1].replace(":", "_"), [str(folder / "hits.csv")], *options).merged)
    return merged["events/n_hits"].tolist()


def test_gap_is_build_tcm(tmp_path):
    """pygama joins a row if it is at most the window after the one before."""
    times = table_of(tmp_path)
    new = np.flatnonzero(np.diff(times) > 25) + 1
    assert sizes(tmp_path, "--define", "gap:25ns,1") == np.diff(np.concatenate([[0], new, [len(times)]])).tolist()


def test_gap_is_find_peaks_of_short_hits(tmp_path):
    """strax splits where the next hit begins gap_threshold or more after the end of the latest; hits here are 1 ns long."""
    times, peaks, end = table_of(tmp_path), [], None
    for time in times.tolist():
        if end is None or time - end >= 25:
            peaks.append(0)
        peaks[-1] += 1
        end = max(end or 0, time + 1)
    assert sizes(tmp_path, "--define", "gap:25ns,1") == peaks


def test_fixed_is_a_histogram_of_times(tmp_path):
    """As bins of scipp."""
    times = table_of(tmp_path)
    assert sizes(tmp_path, "--define", "fixed:100ns") == np.unique(times // 100, return_counts=True)[1].tolist()


def test_chance_events_depend_on_the_definition(tmp_path):
    """0.05 hits in 100 ns on average: numbers of events by numpy, and their ratios as the page states them."""
    times = np.sort(np.random.default_rng(5).integers(0, 400_000_000, 200_000))
    (tmp_path / "hits.csv").write_text("t_ns,ch\n" + "".join(f"{t},1\n" for t in times.tolist()))
    binned = np.unique(times // 100, return_counts=True)[1]
    runs = np.diff(np.flatnonzero(np.concatenate([[True], np.diff(times) > 99, [True]])))
    assert len(sizes(tmp_path, "--define", "gap:99ns,2")) == (runs >= 2).sum()
    assert len(sizes(tmp_path, "--define", "gap:99ns,3")) == (runs >= 3).sum()
    assert len(sizes(tmp_path, "--define", "fixed:100ns", "--filter", "n_hits>=2")) == (binned >= 2).sum()
    sliding = len(sizes(tmp_path, "--define", "coincidence:99ns,n_hits>=2"))
    assert 1.8 < sliding / (binned >= 2).sum() < 2 and 1.8 < (runs >= 2).sum() / (binned >= 2).sum() < 2
    assert 4.5 < (runs >= 3).sum() / (binned >= 3).sum() < 6
