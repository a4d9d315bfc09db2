"""Lengths of time in definitions, filters and histograms: what no clock of the run measures is refused when it starts."""

import h5py
import pytest

from lmd_reference import flat_file
from program import Run, eventloom
from test_sorted import lmd_events

OPTIONS = [["--define", "gap:25ns,2"], ["--define", "multiplicity:10ns,2"], ["--define", "coincidence:1us,n_hits>=2"],
           ["--define", "coincidence:5,channel:0[-5ns,1]>=1"], ["--define", "trigger:n_hits>=1,1,2us"],
           ["--define", "fixed:1ms"], ["--define", "tag", "--filter", "duration<5ns"],
           ["--define", "tag", "--filter", "channel:0[0,5ns]>=1"], ["--define", "tag", "--reply-if", "duration<1us", "--reply",
                                                                     "udp://127.0.0.1:9"],
           ["--define", "tag", "--hist", "h=n_hits:0..5/5 if duration<5ns"],
           ["--define", "tag", "--hist", "h=dt(channel:0[0,1ns],channel:1):0..5/5"],
           ["--define", "tag", "--hist", "h=duration:0ns..5ns/5"], ["--define", "gap:2,1", "--overlap", "10us"],
           ["--define", "tag", "--from", "1us"], ["--define", "tag", "--to", "5ms"]]


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    path = tmp_path_factory.mktemp("numbers") / "a.lmd"
    path.write_bytes(flat_file(lmd_events(range(1, 40), 0)))
    return path


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_event_numbers_have_no_unit_of_time(tmp_path, numbered, options):
    done = eventloom("run", numbered, *options, "--output", tmp_path / "run.h5", code=2)
    assert "the times of this run are event numbers" in done.stderr
    assert not (tmp_path / "run.h5").exists()


def test_event_numbers_are_compared_as_plain_numbers(tmp_path, numbered):
    run = Run(tmp_path, [numbered], "--define", "gap:1,3", "--filter", "duration<100", "--overlap", 50)
    with h5py.File(run.merged) as file:
        assert file["events/duration"][:].tolist() == [38]
    done = eventloom("run", numbered, "--define", "gap:9,3", "--overlap", 5, "--output", tmp_path / "no.h5", code=2)
    assert "spans 9, longer than --overlap 5" in done.stderr
    done = eventloom("show", run.output, "--time", "2us", code=2)
    assert "the times of this run are event numbers" in done.stderr


@pytest.mark.parametrize("window, holds", [("-25,-24", False), ("-25,-2.4ns", False), ("-2.5ns,-24", False),
                                           ("-25,-2.3ns", True), ("-2.6ns,-26", True)])
def test_ends_of_windows_in_ticks_and_in_a_unit(tmp_path, window, holds):
    """The tick of 100 ps is known only once the file is open. Hits lie 23 and 26 ticks before the last."""
    (tmp_path / "a.csv").write_text("t,ch\n1000,1\n1003,1\n1026,0\n")
    eventloom("convert", f"csv:{tmp_path}/a.csv?unit=tick&time=t&channel=ch", "--tick", "100ps", "--epoch", "100ns", "--output",
              tmp_path / "a.epochs")
    condition = f"channel:0>=1 && channel:1[{window}]>=1"
    run = Run(tmp_path / "run", [tmp_path / "a.epochs"], "--define", f"coincidence:0,{condition}")
    assert run.report()["totals"]["events"] == int(holds)
    options = ["--define", "gap:50,1", "--filter", "channel:1[0.1ns,25]>=1", "--hist", "h=dt(channel:1,channel:0[1,2.5ns]):0..9/9"]
    run = Run(tmp_path / "filtered", [tmp_path / "a.epochs"], *options)
    assert run.report()["totals"]["events"] == 1


@pytest.mark.parametrize("text", ["n_hits:-1e308..1e308/10", "n_hits:1e16..10000000000000010/1000", "time:0..1e-320/10",
                                  "duration:0..1e300h/10", "n_hits:0..5/5;time:1e20..1.0000000000000001e20/9"])
def test_histograms_that_cannot_be_filled_are_refused(tmp_path, text):
    (tmp_path / "a.csv").write_text("t_ns,ch\n100,0\n")
    done = eventloom("run", tmp_path / "a.csv", "--define", "gap:5,1", "--hist", f"h={text}", "--output", tmp_path / "run.h5",
                     code=2)
    assert "tell apart" in done.stderr
    assert not (tmp_path / "run.h5").exists()


@pytest.mark.parametrize("times, said", [
    (["5us", "6us"], "--dead-time 6us contradicts --dead-time 5us: both are for all channels"),
    (["A=5us", "A=6us"], "--dead-time A=6us contradicts --dead-time A=5us: both are for channel 0 of source 0 ("),
    (["A=5us", "B=6us"], "--dead-time B=6us contradicts --dead-time A=5us: both are for channel 2 of source 0 ("),
])
def test_dead_times_that_contradict_each_other_are_refused(tmp_path, times, said):
    (tmp_path / "a.csv").write_text("t_ns,ch\n100,0\n200,5\n")
    words = [word for time in times for word in ("--dead-time", time)]
    done = eventloom("run", tmp_path / "a.csv", "--define", "gap:5,1", "--group", "A=channel:0-2", "--group", "B=channel:2-5",
                     *words, "--output", tmp_path / "run.h5", code=2)
    assert said in done.stderr


@pytest.mark.parametrize("times", [["10us", "A=1us"], ["A=1us", "10us"], ["10us", "A=1us", "B=10000ns", "A=1000"]])
def test_the_dead_time_of_a_group_outranks_that_of_all(tmp_path, times):
    """Channel 0 has hits each 2 us, and channel 5 likewise: of its ten, the first and the sixth count."""
    (tmp_path / "a.csv").write_text("t_ns,ch\n" + "".join(f"{1000 + 2000 * i},0\n{1500 + 2000 * i},5\n" for i in range(10)))
    words = [word for time in times for word in ("--dead-time", time)]
    run = Run(tmp_path, [tmp_path / "a.csv"], "--define", "gap:5,1", "--group", "A=channel:0", "--group", "B=channel:5", *words)
    with h5py.File(run.merged) as file:
        assert sorted(file["hits/channel"][:].tolist()) == [0] * 10 + [5] * 2
