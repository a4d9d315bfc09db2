"""What `serve` plays besides LMD files: HLD and .epochs files and the output of runs, read by an independent client."""

import h5py
import pytest

from epochs_file import hits_of_file, read_epochs_file
from event_files import HLD_EVENT, assert_events, hit_list, hld_event, read_lmd_files
from hld_reference import Event as HldEvent
from hld_reference import Subevent as HldSubevent
from hld_reference import hld_file, read_hld
from lmd_reference import encode, read_lmd, sort_out
from mbs import Serving
from program import DATA, Run, eventloom, generate
from tapped import events_in, hits_in
from test_event_files import built, merge_to
from test_mbs import made, numbers, stored

HLD = sorted((DATA / "hld").glob("*.hld"))
LMD = DATA / "lmd" / "comb_0002.lmd"
EPOCH = 10_000


def by_name(path):
    return path.name


def served(folder, *words, code=0, protocol="transport"):
    """The events that a client receives, and the server's summary."""
    with Serving(folder, *words, "--once", protocol=protocol) as serving, serving.client() as client:
        return client.events(), serving.ended(code)


@pytest.fixture(scope="module")
def free_running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("free")
    (uri,) = generate(folder, sources=1, rate=20_000, hits=6, width="50ns", noise=50_000, duration="20ms", payload=2, seed=4)
    return folder, uri.removeprefix("file:")


@pytest.fixture(scope="module")
def run(tmp_path_factory, free_running):
    folder = tmp_path_factory.mktemp("run")
    return Run(folder, [free_running[1], "gen:poisson?rate=1e5&duration=20ms&payload=1"], "--define", "gap:50ns,3",
               "--builders", 2, "--epochs-per-slice", 10)


def merged_as_lmd(folder, run):
    return [encode(event) for event in read_lmd_files(merge_to(f"lmd:{folder}/merged", run.output))]


# HLD


@pytest.mark.parametrize("path", HLD, ids=by_name)
def test_hld_files_are_served_as_merge_writes_them(tmp_path, path):
    events, said = served(tmp_path, path)
    assert_events(events, merged_as_lmd(tmp_path, built(tmp_path, [f"hld:{path}"])))
    assert said.events == said.sent_events == len(events) and said.damaged == 0
    subevents = [s for event in events_in(events) for s in event.subevents]
    assert {s.id for s in subevents} == {HLD_EVENT}
    assert_events([hld_event(s.data).subevents for s in subevents], [event.subevents for event in read_hld(path).events])


def test_a_damaged_hld_file_is_reported_and_counted(tmp_path):
    events = [HldEvent(n, [HldSubevent(0x8000, [n, 1, 2])]) for n in range(1, 21)]
    (tmp_path / "cut.hld").write_bytes(hld_file(events)[:-200])
    found, said = served(tmp_path, "cut.hld", code=3)
    assert numbers(found) == list(range(1, len(found) + 1)) and 0 < len(found) < 20
    assert said.damaged > 0


# .epochs


def test_triggered_epochs_files_give_their_events_back(tmp_path):
    eventloom("convert", f"lmd:{LMD}", "--output", tmp_path / "tag.epochs")
    events, said = served(tmp_path, "tag.epochs")
    assert_events(events, [encode(event) for _, event in sort_out(read_lmd(LMD).events).kept])
    assert said.damaged == 0


@pytest.mark.parametrize("protocol", ["transport", "stream"])
def test_free_running_epochs_files_have_an_event_per_epoch(tmp_path, free_running, protocol):
    events, _ = served(tmp_path, free_running[1], protocol=protocol)
    by_epoch = {}
    hits = hits_of_file(read_epochs_file(free_running[1]))
    for time, channel, payload in zip(hits.time.tolist(), hits.channel.tolist(), hits.payload.reshape(-1, 2).tolist()):
        by_epoch.setdefault(time // EPOCH, []).append((time, 0, channel, payload))
    assert len(by_epoch) > 100
    assert_events([hits_in(event) for event in events_in(events)],
                  [sorted(by_epoch[epoch], key=lambda hit: hit[0]) for epoch in sorted(by_epoch)])
    assert numbers(events) == list(range(1, len(events) + 1))
    assert {hit_list(event.subevents[0].data).tick_ps for event in events_in(events)} == {1000}


def test_a_damaged_epochs_file_is_reported_and_counted(tmp_path, free_running):
    file = read_epochs_file(free_running[1])
    data = bytearray(open(free_running[1], "rb").read())
    victim = file.buffers[len(file.buffers) // 2]
    data[victim.offset + victim.size - 12] ^= 1
    (tmp_path / "flipped.epochs").write_bytes(data)
    whole, _ = served(tmp_path / "whole", free_running[1])
    found, said = served(tmp_path, "flipped.epochs", code=3)
    assert 0 < len(found) < len(whole) and said.damaged == 1


# Runs


@pytest.mark.parametrize("which", ["run", "merged"])
def test_the_output_of_a_run_is_served_as_merge_writes_it(tmp_path, run, which):
    events, _ = served(tmp_path, run.output if which == "run" else run.merged)
    assert len(events) > 100
    assert_events(events, merged_as_lmd(tmp_path, run))


def test_a_run_on_lmd_gives_the_events_back(tmp_path):
    events, _ = served(tmp_path, built(tmp_path, [f"lmd:{LMD}"]).output)
    assert_events(events, [encode(event) for _, event in sort_out(read_lmd(LMD).events).kept])


# Together


def test_files_of_different_kinds_follow_one_another_repeatedly(tmp_path, run, free_running):
    small = DATA / "lmd" / "var_small.lmd"
    events, said = served(tmp_path, small, run.merged, free_running[1], "--loop", 2)
    assert len(events) == said.events and len(events) % 2 == 0
    once = events[:len(events) // 2]
    assert_events(once[:len(stored(small))], stored(small))
    assert [event[:12] + event[16:] for event in events[len(once):]] == [event[:12] + event[16:] for event in once]


def test_speed_takes_the_times_of_ticks(tmp_path, run):
    """Plays 20 ms of data in a second: no event comes before it is due, as the server's flush shows."""
    events, said = served(tmp_path, run.merged, "--speed", "0.02", "--flush-after", "1ms")
    assert_events(events, merged_as_lmd(tmp_path, run))
    assert said.buffers > 50


# Mistakes


@pytest.mark.parametrize("words, reported", [
    (("made.csv",), "file:, lmd:, hld:, hdf5:"),
    (("gen:poisson?rate=1",), "cannot be played"),
    (("mbs://127.0.0.1/stream",), "cannot be played"),
    (("plain.h5",), "not a run's output"),
    (("run.h5.missing.h5",), "run.h5.missing.h5"),
    (("part.h5",), "a part of a run"),
    (("several.h5",), "give 'several.a.h5' or 'several.b.h5'"),
    (("free.epochs?offset=5ns",), "offset"),
    (("free.epochs", "free.epochs"), "free.epochs"),
    (("sorted.epochs",), "time-sorted hits"),
    (("numbered.epochs", "--speed", "1"), "--rate")])
def test_bad_usage(tmp_path, run, free_running, words, reported):
    (tmp_path / "made.csv").write_text("1,2\n")
    h5py.File(tmp_path / "plain.h5", "w").create_dataset("time", data=[1, 2])
    (part,) = sorted(run.output.parent.glob("run.part-*.h5"))[:1]
    (tmp_path / "part.h5").write_bytes(part.read_bytes())
    (tmp_path / "free.epochs").symlink_to(free_running[1])
    if words[0] == "sorted.epochs":
        eventloom("run", free_running[1], "--define", "gap:50ns,3", "--save-sorted", tmp_path / "kept", "--output", tmp_path / "again.h5")
        (tmp_path / "sorted.epochs").symlink_to(next((tmp_path / "kept").glob("*.epochs")))
    if words[0] == "several.h5":
        eventloom("run", free_running[1], "--define", "a=gap:50ns,3", "--define", "b=gap:20ns,3", "--output", tmp_path / "several.h5")
    if words[0] == "numbered.epochs":
        eventloom("convert", f"lmd:{LMD}", "--output", tmp_path / "numbered.epochs")
    done = eventloom("serve", *words, code=2, timeout=20, cwd=tmp_path)
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1 and reported in done.stderr, done.stderr
