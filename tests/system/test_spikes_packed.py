"""Spikes of a simulated network as text, as recorded streams, as pulse packets and as plain records: the same events."""

import json

import numpy as np
import pytest

import truth
from program import Run, eventloom
from results import assert_balanced, assert_same, dropped, read_ledger, read_merged
from spikes_reference import PACKET_HEADER, read_spikes, write_spikes

BRUNEL = [recording for recording in truth.RECORDINGS if recording.path.suffix != ".h5"]
RECORD = np.dtype([("time", "<u8"), ("sender", ">u2")])
PACKED = "record=10&time=u64le@0&channel=u16be@8"


@pytest.fixture(params=BRUNEL, ids=lambda recording: recording.name)
def recording(request):
    return request.param


def events_of(folder, recording, uri, rule=0):
    """The merged file of the events by one of the recording's rules, after verification; nothing may be lost."""
    gap, least = recording.rules[rule]
    run = Run(folder, [uri], "--define", f"gap:{gap}ns,{least}", *recording.options(), np=2)
    merged = read_merged(run.merged)
    truth.assert_events(recording, gap, least, merged)
    ledger = read_ledger(run.output)
    assert_balanced(ledger)
    assert not any(dropped(ledger).values())
    return merged


def converted(folder, recording, *options):
    epoch = recording.options()[:2]
    eventloom("convert", recording.uri(), "--output", f"{folder}/", *epoch, *options)
    return sorted(folder.iterdir())


def in_order(stream):
    return stream.take(np.argsort(stream.time, kind="stable"))


def test_all_forms_give_the_same_events(tmp_path, recording):
    expected = events_of(tmp_path / "csv", recording, recording.uri())
    converted(tmp_path / "streams", recording)
    converted(tmp_path / "packets", recording, "--format", "spikes")
    gap, least = recording.rules[0]
    streams = Run(tmp_path / "a", [f"file:{tmp_path}/streams/*.epochs"], "--define", f"gap:{gap}ns,{least}", "--overlap",
                  f"{recording.overlap}ns", np=2)
    assert_same(read_merged(streams.merged), expected)
    assert_same(events_of(tmp_path / "b", recording, f"spikes:{tmp_path}/packets/*.spikes"), expected)


def test_converted_packets_are_as_documented(tmp_path, recording):
    paths = converted(tmp_path / "packets", recording, "--format", "spikes")
    streams = recording.streams()
    assert [path.suffix for path in paths] == [".spikes"] * len(streams)
    for path, stream in zip(paths, streams):
        found, ordered = read_spikes(path), in_order(stream)
        assert found.tick_ps == 1000
        assert np.array_equal(found.time, ordered.time) and np.array_equal(found.channel, ordered.channel)
        assert path.stat().st_size <= 32 + 8 * len(stream) + PACKET_HEADER * len(found.packets)


def test_packets_of_another_writer(tmp_path, recording):
    for number, stream in enumerate(recording.streams()):
        ordered = in_order(stream)
        write_spikes(tmp_path / f"{number:02}.spikes", ordered.time, ordered.channel, packet_spikes=40 + number)
    events_of(tmp_path / "run", recording, f"spikes:{tmp_path}/*.spikes", rule=1)


def test_records_as_recorded(tmp_path, recording):
    for number, stream in enumerate(recording.streams()):
        records = np.zeros(len(stream), dtype=RECORD)
        records["time"], records["sender"] = stream.time, stream.channel
        records.tofile(tmp_path / f"{number:02}.bin")
    expected = events_of(tmp_path / "csv", recording, recording.uri(), rule=1)
    assert_same(events_of(tmp_path / "run", recording, f"packed:{tmp_path}/*.bin?{PACKED}", rule=1), expected)


def test_a_damaged_packet_is_counted(tmp_path):
    path = tmp_path / "a.spikes"
    write_spikes(path, range(0, 1_000_000, 1000), [1] * 1000, packet_spikes=100)
    data, at = bytearray(path.read_bytes()), read_spikes(path).packets[4] + PACKET_HEADER
    data[at] ^= 1
    path.write_bytes(data)
    run = Run(tmp_path / "run", [f"spikes:{path}"], "--define", "tag", code=3)
    ledger = read_ledger(run.output)
    assert_balanced(ledger)
    assert dropped(ledger)["corrupt"] == 100 and ledger["hits_in_events"].sum() == 900
    assert f"offset {at - PACKET_HEADER}: " in run.done.stderr


def test_inspect(tmp_path):
    path = tmp_path / "a.spikes"
    write_spikes(path, [5, 5, 100_000], [7, 9, 7])
    seen = json.loads(eventloom("inspect", path, "--json", "--events", 2).stdout)
    assert (seen["kind"], seen["damaged"], seen["hits"], seen["channels"], seen["packets"]) == ("spikes", False, 3, 2, 1)
    assert (seen["first_time"], seen["last_time"], seen["first_channel"], seen["last_channel"]) == (5, 100_000, 7, 9)
    assert [(hit["time"], hit["channel"]) for hit in seen["first_events"]] == [(5, 7), (5, 9)]
    np.array([(5, 7), (6, 8)], dtype=RECORD).tofile(tmp_path / "a.bin")
    seen = json.loads(eventloom("inspect", f"packed:{tmp_path}/a.bin?{PACKED}", "--json").stdout)
    assert (seen["kind"], seen["damaged"], seen["hits"], seen["records"]) == ("packed", False, 2, 2)
    path.write_bytes(path.read_bytes()[:-1])
    seen = json.loads(eventloom("inspect", path, "--json", code=3).stdout)
    assert seen["damaged"] and seen["hits"] == 0 and len(seen["problems"]) == 1
