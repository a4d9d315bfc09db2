"""Several streams of events in one pass, in files of their own: each equals that of a run with that definition alone, whatever
happens to the run. Definitions, overlaps and set-ups are varied in tests/engine."""

import random
import re
import shutil
import signal

import h5py
import numpy as np
import pytest

from detector_reference import correct, write_map
from epochs_file import BUFFER_HEADER, hits_of_file, read_epochs_file
from expressions import Detector
from interrupted import STOPPED, content, lines_with, parts, state, until
from lmd_reference import flat_file
from program import Run, eventloom, generate, only_line, schedule_table
from reference import find_events, ledger, merged_file, weave
from results import assert_balanced, assert_builders, assert_same, dropped, ledger_rows, read_ledger, read_merged
from test_part_checksums import chunk_offsets, flip
from test_resume import IN_PASSING, RECORDING, SLICED, Job, assert_kept, assert_refused
from test_sorted import NUMBERED, lmd_events

EPOCH = 10_000
# One definition for each kind of search, with longest lengths from 50 to 300 ticks.
DEFINITIONS = {"pair": "gap:60,4", "burst_2": "multiplicity:100,5,1,2", "C": "coincidence:50ns,sources>=3",
               "wide": "gap:30,3,100,300"}


def named(definitions):
    """The options for these {name: definition}."""
    return [word for name, text in definitions.items() for word in ("--define", f"{name}={text}")]


class Several(Run):
    """A run with named definitions; `outputs` and `merged_files` are by name."""

    def __init__(self, folder, sources, definitions, *options, **launch):
        super().__init__(folder, sources, *named(definitions), *options, **launch)
        assert not self.merged.exists(), "what is merged is the run of one definition"
        self.outputs = {name: folder / f"run.{name}.h5" for name in definitions}
        self.merged_files = {name: merged_of(path) for name, path in self.outputs.items()}


def merged_of(run_file):
    path = run_file.with_suffix(".merged.h5")
    eventloom("merge", run_file, "--output", path, "--force", code=None)
    return path


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """URIs, and the stream of each."""
    uris = generate(tmp_path_factory.mktemp("streams"), sources=5, rate=20_000, timing="poisson", hits=8, width="50ns",
                    noise=100_000, duration="10ms", payload=1, channels=32, seed=15)
    return uris, [hits_of_file(read_epochs_file(uri.removeprefix("file:"))) for uri in uris]


def assert_reference(run, hits, definitions, overlap, per_slice, filters=(), detector=None, lost=()):
    """`lost`: {slice: hits} removed by the detector."""
    for name, definition in definitions.items():
        events = find_events(hits, definition, overlap, filters, detector=detector)
        assert len(events.begin) > 20, name
        assert_same(read_merged(run.merged_files[name]), merged_file(events, with_payload=True))
        account = read_ledger(run.outputs[name])
        assert_balanced(account)
        expected = {number: list(row) for number, row in ledger(events, per_slice * EPOCH).items()}
        for number, n in dict(lost).items():
            expected.setdefault(number, [0, 0, 0, 0])[0] += n
        assert ledger_rows(account) == {number: tuple(row) for number, row in expected.items()}


def columns(path):
    """All datasets, including the ledger, and their explanations; not the attributes of the file, which describe its
    run."""
    return {name: value for name, value in content(path).items() if not name.startswith("@")}


def assert_as_alone(run, folder, sources, definitions, *options, **launch):
    """Every output equals, byte for byte, that of a run with this definition alone; returns those runs."""
    alone = {}
    for name, definition in definitions.items():
        alone[name] = Run(folder / f"alone-{name}", sources, "--define", definition, *options, **launch)
        expected, found = columns(alone[name].merged), columns(run.merged_files[name])
        assert len(expected) > 15
        different = [key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)]
        assert not different, (name, different)
        assert_balanced(read_ledger(run.outputs[name]))
    return alone


# The same events as from separate runs.

def test_equals_the_reference(tmp_path, recording):
    uris, streams = recording
    schedule = schedule_table(tmp_path, len(streams), 2)
    run = Several(tmp_path / "run", uris, DEFINITIONS, "--overlap", EPOCH, "--builders", 2, "--filters", 2, "--schedule",
                  schedule, "--epochs-per-slice", 13, np=3, omp=2)
    assert_reference(run, weave(streams), DEFINITIONS, EPOCH, 13)
    for output in run.outputs.values():
        assert_builders(read_ledger(output), schedule, 2)


def test_each_has_its_own_overlap(tmp_path, recording):
    """The default is that of a run alone: one epoch for the short one, 20 times 2 us for the long one."""
    uris, streams = recording
    definitions = {"short": ("gap:60,4", EPOCH), "long": ("gap:2us,3", 40_000)}
    run = Several(tmp_path / "run", uris, {name: text for name, (text, _) in definitions.items()}, "--builders", 2, "--filters",
                  2, "--epochs-per-slice", 3, "--segment-size", "40000", np=3, code=None)
    for name, (definition, overlap) in definitions.items():
        events = find_events(weave(streams), definition, overlap)
        assert len(events.begin) > 20
        assert_same(read_merged(run.merged_files[name]), merged_file(events, with_payload=True))
        assert_balanced(read_ledger(run.outputs[name]))


def test_filters_and_a_detector_are_those_of_all(tmp_path, recording):
    """Corrected times, masked and cut hits, groups; each stream has its own account of the filters."""
    uris, streams = recording
    words = np.concatenate([stream.payload for stream in streams])
    rows = [{"source": "1", "offset_ns": "12000.4", "group": "A"}, {"source": "3", "offset_ns": "-15"},
            {"source": "0", "group": "A"}, {"source": "2", "channel": str(2 << 22 | 5), "mask": "1"},
            {"source": "4", "max_payload": hex(int(np.quantile(words, 0.7)))}]
    corrected = correct(streams, [uri.removeprefix("file:") for uri in uris], rows)
    everything = (0, 0xFFFFFFF)
    groups = Detector({"A": [(0, *everything), (1, *everything)], "B": [(2, *everything)]})
    definitions = {"both": "coincidence:60ns,A>=1 && B>=1", "four": "gap:60,4"}
    filters = ["n_hits>=5 || A>=2", "duration<150ns"]
    run = Several(tmp_path / "run", uris, definitions, "--detector", write_map(tmp_path / "map.csv", rows),
                  "--group", "B=source:2", *[word for text in filters for word in ("--filter", text)], "--overlap", EPOCH,
                  "--epochs-per-slice", 4, "--filters", 2, "--builders", 2, np=3,
                  code=3 if corrected.lost("untimed") else 0)
    lost = {}
    for cause in ("masked", "cut", "untimed"):
        for number, n in corrected.lost_by_slice(cause, 4 * EPOCH).items():
            lost[number] = lost.get(number, 0) + n
        for output in run.outputs.values():
            assert dropped(read_ledger(output))[cause] == corrected.lost(cause)
    assert corrected.lost("masked") and corrected.lost("cut")
    assert_reference(run, corrected.hits, definitions, EPOCH, 4, filters, groups, lost)
    for about in run.report()["definitions"]:
        n = len(find_events(corrected.hits, definitions[about["name"]], EPOCH, detector=groups).begin)
        assert [(f["expression"], f["accepted"] + f["rejected"]) for f in about["per_filter"]] == [(text, n) for text in filters]


def test_tag_beside_gap_on_numbered_data(tmp_path):
    """Only `tag` requires equal triggers of all sources: hits that it refuses are in the events of the other."""
    for number, events in enumerate(NUMBERED):
        (tmp_path / f"{number}.lmd").write_bytes(flat_file(lmd_events(events, number)))
    uris, definitions = [f"lmd:{tmp_path}/*.lmd?time=tag"], {"gap": "gap:0,1", "tag": "tag"}
    options = ["--overlap", 0, "--epoch", "4ns", "--epochs-per-slice", 2, "--filters", 2, "--builders", 3]
    run = Several(tmp_path / "run", uris, definitions, *options, np=3, code=3)
    assert_as_alone(run, tmp_path, uris, definitions, *options, np=3, code=3)
    lost = {name: dropped(read_ledger(output))["out_of_step"] for name, output in run.outputs.items()}
    assert lost["tag"] > lost["gap"]


def test_a_damaged_input_is_a_loss_of_each(tmp_path, recording):
    uris, _ = recording
    path = uris[1].removeprefix("file:")
    buffer = read_epochs_file(path).buffers[3]
    shutil.copy(path, tmp_path / "damaged.epochs")
    flip(tmp_path / "damaged.epochs", buffer.offset + BUFFER_HEADER.size + 9, 3)
    sources = [uris[0], f"file:{tmp_path}/damaged.epochs", *uris[2:]]
    options = ["--overlap", EPOCH, "--epochs-per-slice", 16, "--builders", 2]
    definitions = {name: DEFINITIONS[name] for name in ("burst_2", "C")}
    run = Several(tmp_path / "run", sources, definitions, *options, np=3, code=3)
    for output in run.outputs.values():
        assert_balanced(read_ledger(output))
        assert dropped(read_ledger(output))["corrupt"] == buffer.n_hits
    assert len(lines_with(run.done.stderr, "damaged.epochs")) == 1, "reported once, not for each definition"


def test_saved_hits_give_the_same_events(tmp_path, recording):
    uris, streams = recording
    Several(tmp_path / "first", uris, DEFINITIONS, "--overlap", EPOCH, "--save-sorted", tmp_path / "sorted",
            "--builders", 2, np=2)
    again = Several(tmp_path / "again", [f"sorted:{tmp_path}/sorted"], DEFINITIONS, "--overlap", EPOCH, np=2)
    assert_reference(again, weave(streams), DEFINITIONS, EPOCH, 100)


def test_explain_lists_each(tmp_path, recording):
    """The first events of each definition, as in a run with it alone."""
    definitions = {"small": "gap:20,2", "large": "gap:100,6"}
    options = ["--filter", "n_hits>=7 || duration<30ns", "--explain", 5, "--filters", 2]
    run = Several(tmp_path / "run", recording[0], definitions, *options, np=3)
    for one in assert_as_alone(run, tmp_path, recording[0], definitions, *options, np=3).values():
        reported = one.done.stdout[:re.search(r"^\d+ events with ", one.done.stdout, re.M).start()]
        assert len(lines_with(reported, "event ", "hits: ")) == 5 and reported in run.done.stdout, run.done.stdout


# What it writes and says.

@pytest.fixture(scope="module")
def run(tmp_path_factory, recording):
    return Several(tmp_path_factory.mktemp("run"), recording[0], DEFINITIONS, "--overlap", EPOCH, "--builders", 2, np=2)


def assert_index(folder, definitions, closed=1):
    with h5py.File(folder / "run.h5") as index:
        assert index.attrs["format"] == "eventloom-run-index" and index.attrs["closed"] == closed
        assert list(index.attrs["names"]) == [*definitions]
        assert sorted(index) == sorted(definitions)
        assert list(index.attrs["files"]) == [f"run.{name}.h5" for name in definitions]
        assert list(index.attrs["definitions"]) == [*definitions.values()]
        for name in definitions:
            link = index.get(name, getlink=True)
            assert isinstance(link, h5py.ExternalLink) and (link.filename, link.path) == (f"run.{name}.h5", "/")


def test_the_index_leads_to_each(run, recording):
    assert_index(run.output.parent, DEFINITIONS)
    hits = sum(len(stream) for stream in recording[1])
    with h5py.File(run.output) as index:
        for name, output in run.outputs.items():
            assert index[f"{name}/ledger/hits_in"][:].sum() == hits
            assert np.array_equal(index[name]["ledger/slice"][:], read_ledger(output)["slice"])
            assert index[name].attrs["closed"] == 1


def test_each_has_parts_of_its_own(run):
    folder, expected = run.output.parent, {"run.h5"}
    for name, output in run.outputs.items():
        with h5py.File(output) as file:
            listed = {part.decode() for part in file["parts/name"][:]}
        assert listed and all(part.startswith(f"run.{name}.part-") for part in listed)
        expected |= {output.name, run.merged_files[name].name, *listed}
    assert {path.name for path in folder.glob("run.*")} == expected


@pytest.mark.parametrize("definitions", [["one=gap:60,4"], ["gap:60,4"]], ids=["named", "unnamed"])
def test_a_single_definition(tmp_path, recording, definitions):
    """A named definition has an index like several; without a name, run.h5 is the usual run."""
    eventloom("run", *recording[0], "--define", *definitions, "--output", tmp_path / "run.h5")
    if "=" in definitions[0]:
        assert_index(tmp_path, {"one": "gap:60,4"})
    run_file = tmp_path / ("run.one.h5" if "=" in definitions[0] else "run.h5")
    assert_same(read_merged(merged_of(run_file)), merged_file(find_events(weave(recording[1]), "gap:60,4", EPOCH)))
    assert (tmp_path / "run.one.h5").exists() == ("=" in definitions[0])


def test_every_command_takes_the_run_of_one(tmp_path, run):
    output = run.outputs["C"]
    assert "coincidence:50ns,sources>=3" in eventloom("inspect", output).stdout
    assert eventloom("show", output, "--event", 0).stdout
    eventloom("report", output, "-o", tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().rstrip().endswith("</html>")
    eventloom("compare", output, run.merged_files["C"])
    eventloom("compare", output, run.outputs["pair"], code=3)


@pytest.mark.parametrize("command", [["merge"], ["show", "--event", "0"], ["report", "-o", "report.html"], ["inspect"],
                                     ["compare", "run.pair.h5"]], ids=lambda words: words[0])
def test_commands_that_are_given_the_index_name_the_files(tmp_path, run, command):
    for path in run.output.parent.glob("run.*"):
        shutil.copy(path, tmp_path)
    before = state(tmp_path)
    only_line(eventloom(*command, "run.h5", cwd=tmp_path, code=2), "run.h5", *(f"run.{name}.h5" for name in DEFINITIONS))
    assert state(tmp_path) == before and not (tmp_path / "report.html").exists()


def test_report_and_summary_list_each(run, recording):
    report, hits = run.report(), weave(recording[1])
    assert [(about["name"], about["definition"]) for about in report["definitions"]] == [*DEFINITIONS.items()]
    assert report["exit_code"] == 0
    sections = re.split(rf"^(?=(?:{'|'.join(DEFINITIONS)})\b)", run.done.stdout, flags=re.M)[1:]
    assert len(sections) == len(DEFINITIONS), run.done.stdout
    for about, section in zip(report["definitions"], sections):
        events = find_events(hits, about["definition"], EPOCH)
        n_hits = int((events.end - events.begin).sum())
        assert about["output"].endswith(f"run.{about['name']}.h5") and about["balanced"] is True and about["parts"]
        assert about["totals"]["events"] == len(events.begin) and about["totals"]["hits_in_events"] == n_hits
        assert about["totals"]["hits_in"] == len(hits)
        assert section.startswith(about["name"]) and f" {len(events.begin)} events with {n_hits} hits" in section
        assert lines_with(section, "outside events", str(len(hits) - n_hits)), section


def test_the_exit_code_is_the_worst(tmp_path, recording):
    """Truncated events of one of them are a loss of the run."""
    definitions = {"first": "gap:60,4", "cut": "gap:2us,3", "last": "tag"}
    run = Several(tmp_path, recording[0], definitions, "--overlap", "3us", code=3)
    assert run.report()["exit_code"] == 3
    flags = {name: read_merged(path)["events/flags"] for name, path in run.merged_files.items()}
    assert not flags["first"].any() and flags["cut"].any() and not flags["last"].any()
    reported = lines_with(run.done.stderr, "truncated", "--overlap")
    assert len(reported) == 1 and "cut" in reported[0]


# Interrupted, damaged, complete.

# Events of all hits, of some, and none: their segments fill at very different slices.
UNEQUAL = {"all": "gap:1ns,1", "some": "gap:25ns,4", "none": "gap:25ns,4000"}


@pytest.fixture(scope="module")
def long_recording(tmp_path_factory):
    """The recording of test_resume: 40 slices of 2.5 ms, of 5500 hits each."""
    return generate(tmp_path_factory.mktemp("long"), **RECORDING)


def job_of(folder, sources, *options, np=None):
    return Job(folder, sources, *named(UNEQUAL), *SLICED[2:], *options, np=np)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, long_recording):
    job = job_of(tmp_path_factory.mktemp("undisturbed"), long_recording)
    job.run("--segment-size", "100000")
    return job


def parts_of(folder, name):
    return sorted(folder.glob(f"run.{name}.part-*-*.h5"))


def stop(job, number, rank=0):
    """Stops a run once the definition `all` has four parts; returns its messages."""
    with job.start("--speed", "0.02", "--segment-size", "100000") as started:
        def enough():
            assert started.process.poll() is None, started.text()
            return len(parts_of(job.folder, "all")) >= 4
        until(enough, "four parts of all hits", so_far=started.text)
        started.send(number, rank)
        return started.wait(-number if number == signal.SIGKILL else STOPPED)


def finished_slices(folder, name):
    return {int(number) for part in parts_of(folder, name) for number in read_ledger(part)["slice"]}


def assert_same_result(job, reference):
    """The merged file of each, except what depends on the pace; only results are left."""
    expected_files = {"run.h5"}
    for name in UNEQUAL:
        run_file = job.folder / f"run.{name}.h5"
        with h5py.File(run_file) as file:
            assert file.attrs["closed"] == 1
            expected_files |= {run_file.name, *(part.decode() for part in file["parts/name"][:])}
        assert_balanced(read_ledger(run_file))
    assert {path.name for path in job.folder.glob("run.*") if ".merged." not in path.name} == expected_files
    assert_index(job.folder, UNEQUAL)
    for name in UNEQUAL:
        expected, found = (content(merged_of(j.folder / f"run.{name}.h5"), IN_PASSING) for j in (reference, job))
        different = [key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)]
        assert set(different) <= {"@setup", "ledger/builder"}, (name, different)


@pytest.mark.parametrize("number, np_, options", [
    (signal.SIGUSR1, 2, ["--builders", "2", "--filters", "2"]), (signal.SIGTERM, None, []), (signal.SIGKILL, None, [])],
    ids=["USR1", "TERM", "KILL"])
def test_interrupted_and_resumed(tmp_path, long_recording, undisturbed, number, np_, options):
    job = job_of(tmp_path, long_recording, *options, np=np_)
    reported = stop(job, number, (np_ or 1) - 1)
    if number == signal.SIGKILL:
        assert finished_slices(tmp_path, "all") > finished_slices(tmp_path, "none"), "their segments end at different slices"
    else:
        assert lines_with(reported, number.name) and lines_with(reported, "--resume")
        assert_index(tmp_path, UNEQUAL, closed=0)
    before = state(tmp_path)
    job.resume()
    assert_kept(before, tmp_path)
    assert_same_result(job, undisturbed)


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory, long_recording):
    """Copies of a stopped run; call with a folder and the definitions to resume with."""
    original = job_of(tmp_path_factory.mktemp("stopped"), long_recording)
    stop(original, signal.SIGUSR1)

    def copy(folder, define):
        shutil.copytree(original.folder, folder, dirs_exist_ok=True)
        return Job(folder, long_recording, *define, *SLICED[2:])

    return copy


def test_the_index_of_an_interrupted_run_is_not_closed(tmp_path, interrupted):
    interrupted(tmp_path, named(UNEQUAL))
    assert_index(tmp_path, UNEQUAL, closed=0)
    done = eventloom("merge", "run.some.h5", code=2, cwd=tmp_path)
    assert len(done.stderr.splitlines()) == 1 and "--resume" in done.stderr


@pytest.mark.parametrize("change, words", [
    ({"few": "gap:25ns,4", "some": None}, ["few=gap:25ns,4", "some=gap:25ns,4"]),
    ({"some": "gap:25ns,5"}, ["some=gap:25ns,5", "some=gap:25ns,4"]),
    ({"none": None}, ["none"]), ({"more": "tag"}, ["more=tag"])], ids=["name", "text", "fewer", "more"])
def test_other_definitions_cannot_resume(tmp_path, interrupted, change, words):
    definitions = {name: text for name, text in (UNEQUAL | change).items() if text}
    assert_refused(interrupted(tmp_path, named(definitions)), "--define", *words)


def test_a_definition_without_a_name_cannot_resume_those_with_names(tmp_path, interrupted):
    assert_refused(interrupted(tmp_path, ["--define", "gap:25ns,4"]), "--define", "gap:25ns,4")


@pytest.mark.parametrize("np_", [None, 2])
def test_a_damaged_part_is_built_again_and_no_other(tmp_path, long_recording, undisturbed, np_):
    shutil.copytree(undisturbed.folder, tmp_path, dirs_exist_ok=True)
    job = job_of(tmp_path, long_recording, "--segment-size", "100000", np=np_)
    victim = random.Random(5).choice(parts_of(tmp_path, "some")[:-1] or parts_of(tmp_path, "some"))
    flip(victim, chunk_offsets(victim)[0][0], 0)
    before = state(tmp_path)
    reported = job.resume()
    assert lines_with(reported, victim.name, "built again"), reported
    now = state(tmp_path)
    assert now.get(victim.name) != before[victim.name] and (tmp_path / f"{victim.name}.damaged").exists()
    others = [name for name in before if ".part-" in name and name != victim.name]
    assert len(others) > 40 and all(now[name] == before[name] for name in others)
    (tmp_path / f"{victim.name}.damaged").unlink()
    assert_same_result(job, undisturbed)


@pytest.mark.parametrize("np_", [None, 2])
def test_complete_already(tmp_path, long_recording, undisturbed, np_):
    shutil.copytree(undisturbed.folder, tmp_path, dirs_exist_ok=True)
    before = state(tmp_path)
    reported = job_of(tmp_path, long_recording, "--segment-size", "100000", np=np_).resume()
    assert all(lines_with(reported, f"run.{name}.h5", "complete") for name in UNEQUAL), reported
    assert state(tmp_path) == before


# Mistakes.

@pytest.mark.parametrize("definitions, words", [
    (["muon=gap:60,4", "tag"], ["--define 'tag'", "name"]),
    (["tag", "gap:60,4"], ["--define", "name"]),
    (["muon=gap:60,4", "muon=tag"], ["--define 'muon=tag'", "'muon'"]),
    (["1a=gap:5,2"], ["--define '1a=gap:5,2'", "'1a'", "letter"]),
    (["_a=gap:5,2"], ["--define '_a=gap:5,2'", "letter"]),
    (["a-b=gap:5,2"], ["--define 'a-b=gap:5,2'", "'a-b'", "letter"]),
    (["\u00e4=gap:5,2"], ["letter"]),
    (["../a=gap:5,2"], ["'../a'", "letter"]),
    (["=gap:5,2"], ["--define '=gap:5,2'", "name"]),
    ([f"{'a' * 33}=gap:5,2"], ["32"]),
], ids=lambda value: value[-1] if isinstance(value, list) else None)
def test_names_that_are_none(tmp_path, recording, definitions, words):
    options = [word for text in definitions for word in ("--define", text)]
    for np_ in (None, 2) if "muon=tag" in definitions else (None,):
        done = eventloom("run", *recording[0], *options, "--output", tmp_path / "run.h5", np=np_, code=2)
        lines = [line for line in done.stderr.partition("-----")[0].splitlines() if line.strip()]
        assert all(word in lines[0] for word in words), done.stderr
        name, is_named, _ = definitions[-1].partition("=")
        marks = ["  " + definitions[-1], "  " + "^" * max(len(name), 1)] if is_named and definitions[0] != "tag" else []
        assert lines[1:] == marks, done.stderr
        assert list(tmp_path.iterdir()) == []


def test_the_longest_name(tmp_path, recording):
    name = "a" * 31 + "_"
    run = Several(tmp_path, recording[0], {name: "gap:60,4", "A": "tag", "a": "gap:60,4"})
    assert_same(read_merged(run.merged_files[name]), read_merged(run.merged_files["a"]))


@pytest.mark.parametrize("text, wrong, word", [
    ("gpa:25,4", "gpa", "did you mean 'gap'?"), ("gap:25,4xs", "4xs", "not a whole number"),
    ("coincidence:50ns,n_hits>=2 && n_hist<9", "n_hist", "did you mean 'n_hits'?")])
def test_mistakes_in_a_definition_are_marked(tmp_path, recording, text, wrong, word):
    done = eventloom("run", *recording[0], *named({"good": "tag", "bad": text}), "--output", tmp_path / "run.h5", code=2)
    lines = done.stderr.splitlines()
    assert len(lines) == 3 and word in lines[0] and f"'bad={text}'" in lines[0] and lines[1] == f"  bad={text}", done.stderr
    assert lines[2] == " " * lines[1].index(wrong) + "^" * len(wrong), done.stderr
    assert done.stdout == "" and list(tmp_path.iterdir()) == []


def test_a_long_text_with_a_mistake_is_cut(tmp_path, recording):
    done = eventloom("run", *recording[0], "--define", "tag", "--filter", "&&".join(["n_hits>=2"] * 900 + ["n_hist>9"]),
                     "--output", tmp_path / "run.h5", code=2)
    lines = done.stderr.splitlines()
    assert len(lines) == 3 and max(map(len, lines)) < 500 and lines[1].endswith("n_hist>9"), done.stderr
    assert lines[2] == " " * lines[1].index("n_hist") + "^" * 6, done.stderr


@pytest.mark.parametrize("options", [("--filter", "source:0-9>=1 && source:7-9>=1"), ("--define", "coincidence:5,source:7-9>=1")])
def test_a_range_of_missing_sources_is_reported(tmp_path, recording, options):
    define = () if "--define" in options else ("--define", "tag")
    done = eventloom("run", *recording[0], *define, *options, "--output", tmp_path / "run.h5")
    assert len(lines_with(done.stderr, "warning", "'source:7-9'", "counts no hit")) == 1, done.stderr
    assert not lines_with(done.stderr, "'source:0-9'"), done.stderr


@pytest.fixture
def finished(tmp_path, run):
    for path in run.output.parent.glob("run.*"):
        if ".merged." not in path.name:
            shutil.copy(path, tmp_path)
    return tmp_path


@pytest.mark.parametrize("left", ["run.*", "run.pair.*", "run.h5"])
def test_a_finished_run_is_refused(finished, recording, left):
    """Also if only one of its files exists."""
    for path in set(finished.glob("run.*")) - set(finished.glob(left)):
        path.unlink()
    before = state(finished)
    only_line(eventloom("run", *recording[0], *named(DEFINITIONS), "--output", "run.h5", cwd=finished, code=2), "--force")
    assert state(finished) == before
    eventloom("run", *recording[0], *named(DEFINITIONS), "--output", "run.h5", "--force", cwd=finished)
    assert_index(finished, DEFINITIONS)
    after = state(finished)
    assert all(after[name] != before[name] for name in before if name in after), "a file of the old run was kept"


@pytest.mark.parametrize("other", ["file", "input"])
def test_what_is_no_run_is_never_replaced(tmp_path, recording, other):
    """Under the name of one of its outputs: a foreign file, even with --force, or one of its inputs."""
    path = tmp_path / "run.muon.h5"
    if other == "file":
        path.write_text("somebody's thesis")
    else:
        shutil.copy(recording[0][0].removeprefix("file:"), path)
    before = path.read_bytes()
    sources = recording[0] if other == "file" else [f"file:{path}"]
    options = ["--define", "muon=tag", "--output", tmp_path / "run.h5", "--force"]
    only_line(eventloom("run", *sources, *options, code=2), "run.muon.h5")
    assert path.read_bytes() == before and not (tmp_path / "run.h5").exists()


def test_an_index_and_a_single_run_replace_each_other_with_force_only(tmp_path, recording):
    single = ["run", *recording[0], "--define", "gap:60,4", "--output", "run.h5"]
    several = ["run", *recording[0], *named({"a": "gap:60,4", "b": "tag"}), "--output", "run.h5"]
    eventloom(*single, cwd=tmp_path)
    only_line(eventloom(*several, cwd=tmp_path, code=2), "run.h5", "--force")
    assert {path.name for path in tmp_path.glob("run.*")} == {"run.h5", *(path.name for path in parts(tmp_path))}
    eventloom(*several, "--force", cwd=tmp_path)
    assert_index(tmp_path, {"a": "gap:60,4", "b": "tag"})
    assert parts(tmp_path) == [], "those of the single run are gone with it"
    before = state(tmp_path)
    only_line(eventloom(*single, cwd=tmp_path, code=2), "run.h5", "--force")
    assert state(tmp_path) == before
    eventloom(*single, "--force", cwd=tmp_path)
    assert_same(read_merged(merged_of(tmp_path / "run.h5")), read_merged(merged_of(tmp_path / "run.a.h5")))
