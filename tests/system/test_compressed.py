"""Compressed inputs: files compressed by the system's gzip, zstd and lz4 are read like the unpacked ones; other files
are named."""

import gzip
import json
import resource
import struct
import subprocess

import h5py
import numpy as np
import pytest

import caen
import midas
import tpx3
from program import BINARY, DATA, Run, bounded, environment, eventloom, generate, only_line
from results import assert_same, read_merged

ALL = ("--define", "gap:0,1")
ENDINGS = {".gz": ["gzip", "-c"], ".zst": ["zstd", "-q", "-c"], ".lz4": ["lz4", "-q", "-B4", "-c"]}


def packed(path, ending, data=None):
    """The file, or `data` under its name, compressed beside it."""
    if data is not None:
        path.write_bytes(data)
    target = path.with_name(path.name + ending)
    target.write_bytes(subprocess.run([*ENDINGS[ending], str(path)], check=True, capture_output=True).stdout)
    return target


def table(n=30_000):
    return "t_ns,ch,adc\n" + "".join(f"{17 * i},{i % 5},{i * i % 9973}\n" for i in range(n))


def sample(form, folder):
    """(file, its URI without the path) of one format."""
    if form == "csv":
        (folder / "a.csv").write_text(table())
        return folder / "a.csv", "{}"
    if form == "midas":
        events = [midas.Event(1 + k, [midas.Bank("ADC0", bytes([k % 256]) * (k % 50))]) for k in range(3000)]
        return midas.midas_file(folder / "a.mid", events), "{}"
    if form == "packed":
        np.arange(40_000, dtype="<u8").tofile(folder / "a.bin")
        return folder / "a.bin", "packed:{}?record=8&time=u64le@0&channel=u8@0"
    if form == "compass":
        return caen.compass_file(folder / "a.BIN", 0xCAE1, [
            dict(board=1, channel=n % 8, time_ps=7000 * n, energy=n % 4000) for n in range(5000)]), "{}"
    if form == "tpx3":
        (folder / "a.tpx3").write_bytes(tpx3.chunks(1, [tpx3.pixel(3, n % 256, 1000 * n, 5) for n in range(5000)], 40))
        return folder / "a.tpx3", "{}"
    if form == "spikes":
        generate(folder / "g", sources=1, rate="1e5", duration="50ms")
        eventloom("convert", folder / "g/source_000.epochs", "--format", "spikes", "--output", folder / "a.spikes")
        return folder / "a.spikes", "{}"
    name = {"lmd": "lmd/classic_16k.lmd", "flat": "lmd/be_flat.lmd", "hld": "hld/comb.hld"}[form]
    (folder / ("a." + name[-3:])).write_bytes((DATA / name).read_bytes())
    return folder / ("a." + name[-3:]), "{}"


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("form", ["csv", "midas", "packed", "compass", "tpx3", "spikes", "lmd", "flat", "hld"])
def test_read_as_if_unpacked(tmp_path, form, ending):
    path, uri = sample(form, tmp_path)
    file = packed(path, ending)
    plain = Run(tmp_path / "plain", [uri.format(path)], *ALL)
    run = Run(tmp_path / "run", [uri.format(file)], *ALL)
    assert len(read_merged(plain.merged)["hits/time"]) > 100
    assert_same(read_merged(run.merged), read_merged(plain.merged))
    with h5py.File(run.output) as out:  # the input is recorded as it lies on disk
        assert int(out["sources/bytes"][0]) == file.stat().st_size
    if form != "packed":
        assert json.loads(eventloom("inspect", file, "--json").stdout)["kind"] == json.loads(
            eventloom("inspect", path, "--json").stdout)["kind"]


def test_other_names_and_several_streams_in_one_file(tmp_path):
    """Recognised by their contents, whatever the case of the name, or without an ending; with parts compressed
    separately, and trailing zeros."""
    rows = table().splitlines(keepends=True)
    parts = [gzip.compress("".join(rows[i:i + 7000]).encode()) for i in range(0, len(rows), 7000)]
    (tmp_path / "A.CSV.GZ").write_bytes(b"".join(parts) + bytes(1000))
    (tmp_path / "plain.csv").write_bytes(b"".join(parts))
    (tmp_path / "not.csv.gz").write_text(table())
    results = [read_merged(Run(tmp_path / str(n), [str(tmp_path / name)], *ALL).merged)
               for n, name in enumerate(("A.CSV.GZ", "plain.csv", "not.csv.gz"))]
    assert len(results[0]["hits/time"]) == 30_000
    assert_same(results[1], results[0])
    assert_same(results[2], results[0])


# Frames of zstd and LZ4 beyond those that the plain commands write: a shell command that packs "$0" to standard output.
FRAMES = {
    "pzstd": ("a.csv.zst", 'pzstd -q -c -p 2 "$0"'),
    "long": ("a.csv.zst", 'zstd -q -c --long=31 < "$0"'),
    "legacy": ("a.csv.lz4", 'lz4 -q -l -c "$0"'),
    "metadata": ("a.csv.lz4", 'printf "\\x5A\\x2A\\x4D\\x18\\x05\\0\\0\\0hello"; lz4 -q -B4 -c "$0"'),
}


def framed(folder, frames, text, name=None):
    plain = folder / "plain.txt"
    plain.write_text(text)
    target = folder / (name or FRAMES[frames][0])
    target.write_bytes(subprocess.run(["bash", "-c", FRAMES[frames][1], plain], check=True, capture_output=True).stdout)
    return target


def rows_of(run):
    merged = read_merged(run.merged)
    return list(zip(merged["hits/time"].tolist(), merged["hits/channel"].tolist(), merged["payload"].tolist()))


def rows_in(text):
    return [tuple(map(int, line.split(","))) for line in text.splitlines()[1:]]


@pytest.mark.parametrize("name", [None, "noname.csv"])
@pytest.mark.parametrize("frames", FRAMES)
def test_frames_of_any_kind(tmp_path, frames, name):
    """Also recognised without the ending, behind frames to be skipped."""
    path = framed(tmp_path, frames, table(), name)
    assert rows_of(Run(tmp_path / "run", [str(path)], *ALL)) == rows_in(table())
    assert json.loads(eventloom("inspect", path, "--json").stdout)["hits"] == 30_000


def test_frames_in_any_mix(tmp_path):
    """Tables longer than a block of lz4 -l, cut anywhere, in frames of all kinds one after the other, with zeros between
    and behind them."""
    text = table(1_000_000)
    places = [0, 333, 9_000_000, 9_000_001, 12_000_000, len(text)]
    parts = [text[a:b] for a, b in zip(places, places[1:])]
    packers = ["legacy", "pzstd", "legacy", "metadata", "long"]
    data = b"".join(framed(tmp_path, packer, part).read_bytes() + bytes(n)
                    for n, (packer, part) in enumerate(zip(packers, parts)))
    (tmp_path / "mixed.csv").write_bytes(data + gzip.compress(b"17000000,3,1\n") + bytes(9))
    run = Run(tmp_path / "run", [str(tmp_path / "mixed.csv")], *ALL)
    assert rows_of(run) == [*rows_in(text), (17_000_000, 3, 1)]


@pytest.mark.parametrize("where", ["head", "middle", "end"])
@pytest.mark.parametrize("frames", FRAMES)
def test_cut_frames(tmp_path, frames, where):
    text = table(700_000 if frames == "legacy" else 30_000)  # more than a block
    path = framed(tmp_path, frames, text)
    data = path.read_bytes()
    path.write_bytes(data[:{"head": 10, "middle": len(data) * 9 // 10, "end": len(data) - 1}[where]])
    if where == "head":  # no row at all
        done = eventloom("run", "--source", path, *ALL, "--output", tmp_path / "o.h5", code=2)
        assert str(path) in done.stderr and "the file ends inside its compressed data" in done.stderr
        return
    run = Run(tmp_path / "run", [str(path)], *ALL, code=3)
    kept = rows_of(run)
    assert kept == rows_in(text)[:len(kept)] and len(kept) > 1000 and (where == "end" or len(kept) < len(rows_in(text)))
    assert str(path) in run.done.stderr and "the file ends inside its compressed data" in run.done.stderr


def test_a_damaged_block_of_legacy_lz4(tmp_path):
    """Blocks have no checksum: what cannot be unpacked is damage, and so is a length that no block has."""
    text = table(800_000)
    path = framed(tmp_path, "legacy", text)
    data = bytearray(path.read_bytes())
    second = 8 + struct.unpack_from("<I", data, 4)[0]
    for name, place, with_ in (("match.csv.lz4", second + 4, b"\x00\xff\xff"), ("length.csv.lz4", second, b"\xff\xff\xff\x7f")):
        damaged = bytearray(data)
        damaged[place:place + len(with_)] = with_
        (tmp_path / name).write_bytes(damaged)
        run = Run(tmp_path / name[:5], [str(tmp_path / name)], *ALL, code=3)
        kept = rows_of(run)
        assert kept == rows_in(text)[:len(kept)] and len(kept) > 400_000
        assert name in run.done.stderr and "the compressed data (lz4) are damaged" in run.done.stderr


@pytest.mark.parametrize("magic", ["1f8b0800 01000000", "02214c18 00000000", "512a4d18 00040000", "502a4d18 ffffff00"])
def test_records_that_begin_like_packed_data(tmp_path, magic):
    """The first time equals a magic number and a plausible length: the file is not unpacked."""
    times = struct.unpack("<Q", bytes.fromhex(magic))[0] + 5 * np.arange(1000, dtype="<u8")
    times.astype("<u8").tofile(tmp_path / "a.bin")
    run = Run(tmp_path / "run", [f"packed:{tmp_path}/a.bin?record=8&time=u64le@0&channel=u8@7"], *ALL)
    assert read_merged(run.merged)["hits/time"].tolist() == times.tolist()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("form", ["csv", "midas"])
def test_cut_files(tmp_path, form, ending):
    """Data that can be unpacked are kept, and the rest is a loss; a number at the cut is dropped."""
    path, uri = sample(form, tmp_path)
    whole = read_merged(Run(tmp_path / "plain", [str(path)], *ALL).merged)["hits/time"].tolist()
    data = packed(path, ending).read_bytes()
    cut = tmp_path / ("cut." + form.replace("midas", "mid") + ending)
    cut.write_bytes(data[:len(data) * 2 // 3])
    run = Run(tmp_path / "run", [str(cut)], *ALL, code=3)
    kept = read_merged(run.merged)["hits/time"].tolist()
    assert kept == whole[:len(kept)] and len(kept) < len(whole)
    if form == "csv":
        assert f"the file ends inside its compressed data ({ENDINGS[ending][0]})" in run.done.stderr


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_damage_goes_unnoticed(tmp_path, ending):
    """After a flipped bit, the result is the same or the run reports damage, as the formats' checksums show."""
    random = np.random.default_rng(3)
    path, _ = sample("csv", tmp_path)
    whole = read_merged(Run(tmp_path / "plain", [str(path)], *ALL).merged)
    data = packed(path, ending).read_bytes()
    for n in range(8):
        damaged = bytearray(data)
        damaged[int(random.integers(0, len(data)))] ^= 1 << int(random.integers(0, 8))
        file = tmp_path / f"d{n}.csv{ending}"
        file.write_bytes(damaged)
        run = Run(tmp_path / f"run{n}", [str(file)], *ALL, code=None)
        if run.done.returncode == 0:
            assert_same(read_merged(run.merged), whole)


@pytest.mark.parametrize("name, command, words", [
    ("a.csv.bz2", ["bzip2", "-c"], ["bzip2", "bunzip2"]), ("a.csv.xz", ["xz", "-c"], ["xz", "unxz"]),
    ("noname.csv", ["xz", "-c"], ["xz", "unxz"])])
def test_named_where_not_read(tmp_path, name, command, words):
    data = subprocess.run(command, input=table(100).encode(), check=True, capture_output=True).stdout
    (tmp_path / name).write_bytes(data)
    done = eventloom("run", "--source", f"csv:{tmp_path}/{name}", *ALL, "--output", tmp_path / "o.h5", code=2)
    only_line(done, name, "compressed", *words)


def test_formats_that_are_not_read_from_front_to_back(tmp_path):
    generate(tmp_path / "g", sources=1, rate="1e4", duration="5ms")
    packed(tmp_path / "g/source_000.epochs", ".gz")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["time"], file["channel"] = np.arange(10), np.zeros(10, dtype=int)
    packed(tmp_path / "a.h5", ".zst")
    for name, command in (("g/source_000.epochs.gz", "gunzip"), ("a.h5.zst", "unzstd")):
        done = eventloom("run", "--source", tmp_path / name, *ALL, "--output", tmp_path / "o.h5", code=2)
        only_line(done, name, "compressed", command)


def test_a_small_file_of_much_data_takes_no_memory(tmp_path):
    """The file is a million times smaller than its contents, which are read piece by piece in a tenth of their size."""
    size = 400 << 20
    blocks = gzip.compress(bytes(1 << 20), 9)
    (tmp_path / "a.bin.gz").write_bytes(blocks * (size >> 20))
    limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (size // 2, size // 2))  # noqa: E731
    done = subprocess.run([BINARY, "inspect", f"packed:{tmp_path}/a.bin.gz?record=65536&time=u64le@0&channel=u8@9", "--json"],
                          env=environment(), capture_output=True, text=True, timeout=300, preexec_fn=limit)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hits"] == size // 65536


def test_convert_and_plan_take_them(tmp_path):
    path, _ = sample("csv", tmp_path)
    eventloom("convert", packed(path, ".zst"), "--output", tmp_path / "a.epochs")
    run = Run(tmp_path / "run", [str(tmp_path / "a.epochs")], *ALL)
    assert_same(read_merged(run.merged), read_merged(Run(tmp_path / "plain", [str(path)], *ALL).merged))
    assert bounded([BINARY, "plan", "--source", str(path) + ".zst", "--nodes", "2"], env=environment(), timeout=60,
                   code=None).returncode == 0
