"""Programs of the user as filters: verdicts against the serial reference, any ranks, resumed; programs that crash, hang or
talk nonsense end the run cleanly, and it can be resumed."""

import os
import sys
import time

import h5py
import numpy as np
import pytest

from detector_reference import set_values, write_map
from epochs_file import hits_of_file, read_epochs_file
from program import Run, eventloom, generate
from reference import find_events, ledger, merged_file, weave
from results import assert_balanced, assert_same, ledger_rows, read_ledger, read_merged

EPOCH = 10_000
PACKAGE = os.path.join(os.path.dirname(__file__), "..", "..", "io", "python")
WANTED = "gap:60ns,2"
PATIENCE = "60s"  # of a run with a program that answers, on a busy machine
SLICED = ["--define", WANTED, "--epochs-per-slice", 1, "--overlap", EPOCH]
ROWS = [{"source": "0", "gain": "0.5", "zero": "-3"}]

# A judgement that uses everything in a batch, in plain Python and with numpy.
RULE = """
def rule(time, duration, times, channels, sources, words, values):
    total = sum(int(w) for w in words) + sum(int(t) for t in times) + 3 * sum(int(c) for c in channels)
    total += 7 * sum(int(s) for s in sources) + int(duration) + int(time)
    if values is not None:
        total += sum(int(2 * v) for v in values if v == v)
    return total % 3 != 0
"""
BATCHES = RULE + f"""
import sys
sys.path.insert(0, {PACKAGE!r})
import eventloom

def judge(b):
    print("this does not disturb the answers")
    kept = []
    for i in range(len(b)):
        h = slice(int(b.first_hit[i]), int(b.first_hit[i + 1]))
        assert b.hit_time[h][0] == b.time[i] and b.hit_time[h][-1] == b.time[i] + b.duration[i]
        w = b.payload[int(b.first_payload[h.start]):int(b.first_payload[h.stop])] if b.payload is not None else []
        kept.append(rule(b.time[i], b.duration[i], b.hit_time[h], b.hit_channel[h], b.hit_source[h], w,
                         None if b.value is None else b.value[h]))
    return kept

eventloom.filter(judge, at_a_time=5)
"""
EXEC = {}
exec(RULE, EXEC)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    uris = generate(folder / "words", sources=3, rate=20_000, timing="poisson", hits=8, width="50ns", noise=100_000,
                    duration="10ms", payload=2, channels=32, seed=386)
    uris += generate(folder / "bare", sources=1, rate=20_000, timing="poisson", hits=8, width="50ns", noise=50_000,
                     duration="10ms", payload=0, channels=32, seed=386)
    names = [uri.removeprefix("file:") for uri in uris]
    streams = [hits_of_file(read_epochs_file(name)) for name in names]
    set_values(streams, names, ROWS)
    return uris, weave(streams), write_map(folder / "map.csv", ROWS)


def program(folder, text, name="filter.py"):
    path = folder / name
    path.write_text(text)
    return f"{sys.executable} {path}"


def judged(hits, filters=(), values=False):
    events = find_events(hits, WANTED, EPOCH, filters)
    first = np.cumsum(hits.payload_words, dtype=np.int64) - hits.payload_words
    for i in np.flatnonzero(~events.rejected):
        b, e = events.begin[i], events.end[i]
        words = hits.payload[first[b]:first[e - 1] + hits.payload_words[e - 1]]
        kept = EXEC["rule"](hits.time[b], hits.time[e - 1] - hits.time[b], hits.time[b:e], hits.channel[b:e],
                            hits.source[b:e], words, hits.value[b:e] if values else None)
        events.rejected[i] = not kept
    return events


def assert_judged(run, hits, filters=(), values=False, slice_ticks=EPOCH):
    events = judged(hits, filters, values)
    found, expected = read_merged(run.merged), merged_file(events, True)
    assert 20 < (~events.rejected).sum() < len(events.begin) - 20
    assert_same({name: found[name] for name in expected}, expected)
    account = read_ledger(run.output)
    assert_balanced(account)
    assert ledger_rows(account) == ledger(events, slice_ticks)
    return events


@pytest.mark.parametrize("ranks, filter_ranks, per_slice, filters, with_map", [
    (None, 0, 1, [], False), (3, 0, 13, ["n_hits>=3"], True), (2, 2, 1, [], True), (3, 1, 100, ["sources>=2"], False)])
def test_verdicts_equal_the_reference(tmp_path, recording, ranks, filter_ranks, per_slice, filters, with_map):
    uris, hits, path = recording
    command = program(tmp_path, BATCHES)
    options = ["--define", WANTED, "--epochs-per-slice", per_slice, "--overlap", EPOCH, "--filters", filter_ranks,
               *[w for text in filters for w in ("--filter", text)], *(["--detector", path] if with_map else [])]
    run = Run(tmp_path / "run", uris, *options, "--filter-command", command, np=ranks)
    events = assert_judged(run, hits, filters, with_map, per_slice * EPOCH)
    by_expression = find_events(hits, WANTED, EPOCH, filters).rejected.sum()
    reported = run.report()["per_filter"][-1]
    assert reported["expression"] == "--filter-command " + command
    assert reported["accepted"] == (~events.rejected).sum()
    assert reported["rejected"] == events.rejected.sum() - by_expression
    with h5py.File(run.output) as file:
        assert file.attrs["filters_rejected"][-1] == reported["rejected"]
        assert file.attrs["filters_accepted"][-1] == reported["accepted"]


def test_several_definitions_are_judged_by_one_program(tmp_path, recording):
    uris, hits, _ = recording
    text = BATCHES.replace("kept.append(rule(", "kept.append(b.definition == 1 or rule(")
    run = Run(tmp_path / "run", uris, "--define", "a=" + WANTED, "--define", "b=gap:20,3", "--epochs-per-slice", 7,
              "--overlap", EPOCH, "--filter-command", program(tmp_path, text), np=2)
    for name, events in (("a", judged(hits)), ("b", find_events(hits, "gap:20,3", EPOCH))):
        merged = tmp_path / f"{name}.h5"
        eventloom("merge", run.output.with_name(f"run.{name}.h5"), "--output", merged)
        found, expected = read_merged(merged), merged_file(events, True)
        assert_same({key: found[key] for key in expected}, expected)


def test_the_example_of_the_page(tmp_path, recording):
    uris, hits, _ = recording
    with open(os.path.join(PACKAGE, "README.md")) as page:
        text = page.read().partition("# my_filter.py")[2].partition("```")[0]
    run = Run(tmp_path / "run", uris, *SLICED, "--filter-command",
              program(tmp_path, f"import sys; sys.path.insert(0, {PACKAGE!r}) #" + text), np=2)
    events = find_events(hits, WANTED, EPOCH)
    events.rejected = np.array([len(set(hits.channel[b:e])) < 3 for b, e in zip(events.begin, events.end)])
    found, expected = read_merged(run.merged), merged_file(events, True)
    assert_same({name: found[name] for name in expected}, expected)


C_FILTER = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* Keeps events of at least four hits: see formats/README.md. */
int main(void) {
  unsigned char head[32];
  if (fread(head, 1, 32, stdin) != 32) return 0;
  while (fread(head, 1, 32, stdin) == 32) {
    uint64_t size = *(uint64_t *)head;
    uint32_t n_events = *(uint32_t *)(head + 8), n_hits = *(uint32_t *)(head + 12);
    unsigned char *batch = malloc(size);
    if (fread(batch, 1, size - 32, stdin) != size - 32) return 1;
    int values = VALUES;
    uint32_t *of_event = (uint32_t *)(batch + 16 * (uint64_t)n_events + (values ? 16 : 8) * (uint64_t)n_hits);
    for (uint32_t i = 0; i < n_events; ++i) putchar(of_event[i] >= 4);
    fflush(stdout);
    free(batch);
  }
  return 0;
}
"""


def test_a_program_in_c(tmp_path, recording):
    uris, hits, _ = recording
    (tmp_path / "f.c").write_text(C_FILTER.replace("VALUES", "0"))
    assert os.system(f"cc -O1 -o {tmp_path}/f {tmp_path}/f.c") == 0
    run = Run(tmp_path / "run", uris, *SLICED, "--filter-command", f"{tmp_path}/f", np=2)
    events = find_events(hits, WANTED, EPOCH)
    events.rejected = events.end - events.begin < 4
    found, expected = read_merged(run.merged), merged_file(events, True)
    assert_same({name: found[name] for name in expected}, expected)


COUNT = "import sys; d = sys.stdin.buffer; d.read(32); seen = 0\n" \
        "def batches():\n" \
        "    while h := d.read(32):\n" \
        "        n = int.from_bytes(h[:8], 'little') - 32\n" \
        "        d.read(n); yield int.from_bytes(h[8:12], 'little')\n" \
        "def answer(b): sys.stdout.buffer.write(b); sys.stdout.buffer.flush()\n"
WRONG = {
    "exits": (COUNT + "for n in batches():\n    seen += n\n    if seen > 100: sys.exit(7)\n    answer(b'\\1' * n)\n",
              "exited with code 7 before it had answered for the event at tick"),
    "raises": (BATCHES.replace("kept = []", "kept = [] if b.slice < 300 else 1 / 0"), "exited with code 1 before it had answered for"),
    "crashes": (COUNT + "import os\nfor n in batches():\n    seen += n\n    if seen > 100: os.kill(os.getpid(), 11)\n    answer(b'\\1' * n)\n",
                "was ended by SIGSEGV before it had answered for the event at tick"),
    "hangs": (COUNT + "import threading\nfor n in batches():\n    seen += n\n    if seen > 100: threading.Event().wait()\n    answer(b'\\1' * n)\n",
              "has neither read nor answered for 1s; it owes an answer for the event at tick"),
    "talks": (COUNT + "for n in batches():\n    seen += n\n    answer(b'\\1' * n if seen < 100 else b'Hello, wo'.ljust(n, b'!'))\n",
              "instead of 0 or 1 for the event at tick"),
    "says too much": (COUNT + "for n in batches():\n    seen += n\n    answer(b'\\1' * (n if seen < 100 else n + 3))\n",
                      "answered 3 bytes too many after the event at tick"),
    "is silent at its end": ("import sys; sys.stdin.buffer.read()\n", "has neither read nor answered for 1s"),
    "does not read": ("import threading; threading.Event().wait()\n", "has neither read nor answered for 1s"),
    "closes": ("import os, threading; os.close(1); threading.Event().wait()\n", "closed its standard output before"),
}


@pytest.mark.parametrize("fault, ranks, filter_ranks", [*((fault, None, 0) for fault in WRONG), ("crashes", 3, 2),
                                                       ("hangs", 3, 2), ("talks", 2, 0)])
def test_failing_programs_stop_the_run_in_good_order(tmp_path, recording, fault, ranks, filter_ranks):
    uris, hits, _ = recording
    text, said = WRONG[fault]
    options = ["run", *[w for uri in uris for w in ("--source", uri)], *SLICED, "--filters", filter_ranks, "--segment-size",
               "20KiB", "--output", tmp_path / "run.h5", "--filter-command"]
    command = program(tmp_path, text)
    patience = "1s" if "1s" in said else PATIENCE
    began = time.monotonic()
    done = eventloom(*options, command, "--filter-timeout", patience, np=ranks, code=75)
    assert time.monotonic() - began < 40
    assert said in done.stderr and "--filter-command: '" in done.stderr and "the run stops cleanly" in done.stderr
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["closed"] == 0
    program(tmp_path, BATCHES)  # the user repairs it under the same name
    if fault in ("says too much", "talks", "exits", "crashes", "hangs"):
        return  # its first slices had other verdicts
    eventloom(*options, command, "--resume", np=2)
    eventloom("merge", tmp_path / "run.h5", "--output", tmp_path / "merged.h5")
    found, expected = read_merged(tmp_path / "merged.h5"), merged_file(judged(hits), True)
    assert_same({name: found[name] for name in expected}, expected)


def test_a_slow_program_holds_the_run_up_and_loses_nothing(tmp_path, recording):
    """The program answers only after reading everything that the pipe can hold, and in pieces."""
    uris, hits, _ = recording
    text = BATCHES.replace("def judge(b):", "def judge(b):\n    import time; time.sleep(0.002)")
    run = Run(tmp_path / "run", uris, "--define", WANTED, "--epochs-per-slice", 1000, "--overlap", EPOCH, "--filter-command",
              program(tmp_path, text), "--filter-timeout", PATIENCE)
    assert_judged(run, hits, slice_ticks=1000 * EPOCH)


@pytest.mark.parametrize("text, code", [
    # answers before it has read the batch, which is several times as large as the pipe
    (COUNT + "while h := d.read(32):\n    n = int.from_bytes(h[8:12], 'little')\n    answer(b'\\1' * n)\n"
     "    left = int.from_bytes(h[:8], 'little') - 32\n    while left: left -= len(d.read(min(left, 1000)))\n", 0),
    # floods its output and reads nothing
    ("import os\nwhile True: os.write(1, b'\\1' * 65536)\n", 75)], ids=["answers early", "floods"])
def test_batches_larger_than_a_pipe(tmp_path, text, code):
    uris = generate(tmp_path / "in", sources=1, rate=1_000_000, hits=8, width="50ns", duration="40ms", channels=32, seed=7)
    run = Run(tmp_path / "run", uris, "--define", "gap:60ns,2", "--epochs-per-slice", 1_300, "--filter-command",
              program(tmp_path, text), "--filter-timeout", PATIENCE, code=code)
    if code == 0:
        expected = merged_file(find_events(weave([hits_of_file(read_epochs_file(uris[0].removeprefix("file:")))]), "gap:60ns,2", EPOCH))
        found = read_merged(run.merged)
        assert len(expected["hits/time"]) > 200_000, "each has 14 bytes"
        assert_same({name: found[name] for name in expected}, expected)
    else:
        assert "too many after the event" in run.done.stderr


def test_a_stopped_run_continues(tmp_path, recording):
    uris, hits, _ = recording
    options = ["run", *[w for uri in uris for w in ("--source", uri)], *SLICED, "--segment-size", "20KiB", "--output",
               tmp_path / "run.h5", "--filter-command"]
    command = program(tmp_path, BATCHES)
    eventloom(*options, command, "--speed", 0.02, "--duration", "200ms", np=2, code=75)
    other = program(tmp_path, BATCHES, "other.py")
    assert "--filter was" in eventloom(*options, other, "--resume", np=2, code=2).stderr
    eventloom(*options, command, "--resume", np=3)
    eventloom("merge", tmp_path / "run.h5", "--output", tmp_path / "merged.h5")
    found, expected = read_merged(tmp_path / "merged.h5"), merged_file(judged(hits), True)
    assert_same({name: found[name] for name in expected}, expected)


@pytest.mark.parametrize("command, said", [
    ("no-such-program-of-ours --x", "there is no program 'no-such-program-of-ours' that can be executed"),
    ("'open quote", "a quote is not closed"), (" ", "must name a program")])
def test_mistakes_are_named(tmp_path, recording, command, said):
    done = eventloom("run", recording[0][0], "--define", "gap:25,1", "--filter-command", command, "--output",
                     tmp_path / "run.h5", code=2)
    assert said in done.stderr
    assert not (tmp_path / "run.h5").exists() or not list(tmp_path.glob("run.*.h5"))


def test_no_program_is_left_behind(tmp_path, recording):
    """Programs that ignore the end of their input are killed."""
    mark = f"left-{os.getpid()}-{time.monotonic_ns()}"
    text = BATCHES.replace("eventloom.filter(judge, at_a_time=5)", "eventloom.filter(judge)\nimport threading; threading.Event().wait()")
    run = Run(tmp_path / "run", recording[0], *SLICED, "--filter-command", program(tmp_path, text) + " " + mark,
              "--filter-timeout", "5s", np=2)
    assert "did not end after the last event and was killed" in run.done.stderr
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                assert mark.encode() not in file.read()
        except OSError:
            pass
