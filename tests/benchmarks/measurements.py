"""What all.py measures: commands, rows of their figures, and what others have published."""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Output:
    """Of one repetition: what the command printed, and its report where it writes one."""
    text: str
    report: dict | None = None


@dataclass(frozen=True)
class Row:
    label: str
    unit: str
    read: Callable[[Output], float]
    published: str = ""  # by others: figure, hardware, source


@dataclass(frozen=True)
class Measurement:
    """A command that is repeated as a whole; scripts repeat nothing themselves."""
    name: str
    title: str
    command: str
    rows: tuple
    seconds: float  # of one repetition, about
    report: str = ""  # option after which the name of its JSON file stands
    needs: tuple = ()  # programs, files below the root, or what all.py looks for
    prepare: str = ""
    after: str = ""
    at_most: int = 100  # repetitions that make sense: what is counted or simulated hardly varies

    def whole_command(self, report):
        return f"{self.command} {self.report}{report}" if self.report else self.command


# How a figure is read.

def number(text):
    return float(text.replace(",", ""))


def printed(pattern):
    """The only group of the pattern, in what was printed."""
    def read(output):
        match = re.search(pattern, output.text, re.MULTILINE)
        if not match:
            raise ValueError(f"nothing like '{pattern}' was printed")
        return number(match[1])
    return read


def cell(column, *starts):
    """A column of the row of a Markdown table that starts with these cells; a unit behind the number does not matter."""
    def read(output):
        for line in output.text.splitlines():
            cells = [word.strip() for word in line.replace("|| ", "or ").strip("| ").split(" | ")]
            if tuple(cells[:len(starts)]) == starts:
                return number(cells[column].split()[0])
        raise ValueError(f"no row of {starts} was printed")
    return read


def value_at(point, path):
    for key in path.split("."):
        point = point[key]
    return float(point)


def point(path, **match):
    """A field of the only point of `bench` that has these values; with `scale`, times that."""
    scale = match.pop("scale", 1)
    def read(output):
        found = [p for p in output.report["points"] if all(p[key] == value for key, value in match.items())]
        if len(found) != 1:
            raise ValueError(f"{len(found)} points of {match}")
        return scale * value_at(found[0], path)
    return read


def google(name, key, scale=1):
    """Of a program of google-benchmark; of real time where its name says so."""
    def read(output):
        (found,) = [b for b in output.report["benchmarks"] if b["name"] == name]
        return scale * found[key]
    return read


# Exchange between ranks.

KIB = 1024
BENCH = "mpirun -np 2 build/eventloom bench"
REPORT = "--report-json "
DABC = "DABC report, GSI 2006, tables 9.1-9.7"


def size_name(size):
    return f"{size // KIB} KiB" if size < KIB * KIB else f"{size // KIB // KIB} MiB"


def exchange_rows(pattern, schedule, sizes, published=None):
    rows = []
    for size in sizes:
        match = {"pattern": pattern, "schedule": schedule, "message_bytes": size}
        label = f"{pattern}, {schedule}, {size_name(size)}"
        rows.append(Row(label, "bytes/us", point("rate_bytes_per_us", **match), (published or {}).get(size, "")))
        rows.append(Row(f"{label}: of bare put", "%", point("share", scale=100, **match)))
    return rows


ALL_TO_ALL_2006 = {
    KIB: f"247; 4 nodes, 10 Gbit InfiniBand, verbs alone 365; {DABC}", 4 * KIB: "705", 16 * KIB: "910", 64 * KIB: "948",
    256 * KIB: "954 (95 % of the link)"}
ONE_TO_ONE_PUBLISHED = {
    1024 * KIB: "88 % of the link (MPI_Put + flush, 16 MiB 94 %; ucx#8391); LHCb requires over 80 %"}
CHAOTIC_2006 = {KIB: "273", 4 * KIB: "776", 16 * KIB: "923"}
SIZES = [size * KIB for size in (1, 4, 16, 64, 256)]

EXCHANGE = Measurement(
    "exchange", "exchange between 2 ranks, all to all and one to one, beside bare put",
    f"{BENCH} patterns --pattern all-to-all,one-to-one --schedule round-robin,chaotic --repeat 1",
    (*exchange_rows("all-to-all", "round-robin", SIZES, ALL_TO_ALL_2006),
     *exchange_rows("all-to-all", "chaotic", SIZES[:3], CHAOTIC_2006),
     *exchange_rows("one-to-one", "round-robin", [*SIZES, 1024 * KIB], ONE_TO_ONE_PUBLISHED)), 12, REPORT)


def peer_rows(peer, pattern, sizes, published=""):
    return [Row(f"{peer}, {pattern}, {size_name(size)}", "bytes/us",
                point(f"peers.{peer}.rate_bytes_per_us", pattern=pattern, message_bytes=size), published)
            for size in sizes]


PEER_SIZES = [size * KIB for size in (1, 16, 64, 256)]
PEERS = Measurement(
    "peers", "the same traffic in MPI messages, in UDP datagrams, and through rings in shared memory",
    f"{BENCH} patterns --pattern all-to-all,one-to-one --schedule round-robin --sizes 1KiB,16KiB,64KiB,256KiB --peer mpi,udp,shm "
    "--repeat 1",
    (*(row for peer in ("mpi", "udp", "shm") for pattern in ("all-to-all", "one-to-one")
       for row in peer_rows(peer, pattern, PEER_SIZES)),
     Row("udp, all-to-all, 256 KiB: lost", "%", point("peers.udp.share_lost", scale=100, pattern="all-to-all", message_bytes=256 * KIB))),
    14, REPORT)

ZEROMQ = Measurement(
    "zeromq", "the same traffic over ZeroMQ, queue of 8",
    f"{BENCH} patterns --pattern all-to-all --schedule round-robin --sizes 1KiB,16KiB,64KiB,256KiB --peer zmq-ipc,zmq-tcp "
    "--repeat 1",
    (*peer_rows("zmq-ipc", "all-to-all", PEER_SIZES),
     *peer_rows("zmq-tcp", "all-to-all", PEER_SIZES, "8.5 of 11.1 Gbit/s over RapidIO (77 %)")), 6, REPORT, ("ZeroMQ",))

SPREAD = Measurement(
    "varying-sizes", "schedules, sizes varying by 50 %",
    f"{BENCH} patterns --pattern all-to-all --schedule round-robin,chaotic,balanced --spread 50 --sizes 1KiB,64KiB --repeat 1",
    tuple(Row(f"{schedule}, {size_name(size)}: of bare put", "%",
              point("share", scale=100, schedule=schedule, message_bytes=size))
          for schedule in ("round-robin", "chaotic", "balanced") for size in (KIB, 64 * KIB)), 6, REPORT)

COPY = Measurement(
    "receive-copy", "one to one, receivers copy every byte",
    f"{BENCH} patterns --pattern one-to-one --schedule round-robin --receive copy --sizes 1KiB,16KiB,64KiB --repeat 1",
    tuple(Row(size_name(size), "bytes/us", point("rate_bytes_per_us", message_bytes=size))
          for size in (KIB, 16 * KIB, 64 * KIB)), 3, REPORT)

RING_LINE = r"^ *65536 x 8 +[\d.]+ +[\d.]+ +[\d.]+ %"
RING = Measurement(
    "ring", "ring of 8 cells between 2 ranks, 64 KiB, with and without copying out",
    "mpirun -np 2 build/tests/benchmarks/exchange_benchmark 1 65536",
    (Row("looked at in the ring", "MB/s", printed(r"^ *65536 x 8 +[\d.]+ +([\d.]+)")),
     Row("copied out and assembled", "MB/s", printed(RING_LINE + r" +([\d.]+)"))), 4,
    needs=("build/tests/benchmarks/exchange_benchmark",))


def latency_row(label, path, place, kind, wait, published="", shown=1e-3):
    return Row(label, "us", point(path, scale=shown, place=place, kind=kind, wait=wait, message_bytes=8 if kind == "message"
                                  else 136), published)


LATENCY = Measurement(
    "latency", "small messages, one way, and source to built event",
    f"{BENCH} latency --sizes 8 --wait poll,yield,sleep --repeat 1",
    (latency_row("message of 8 B, polling", "one_way.p50_ns", "local-trip", "message", "poll",
                 "0.79, InfiniBand send of 32 B; 0.77, FPGA to FPGA, 16 B"),
     latency_row("... p99", "one_way.p99_ns", "local-trip", "message", "poll"),
     latency_row("... there and back", "round_trip.p50_ns", "local-trip", "message", "poll"),
     latency_row("... within a rank", "one_way.p50_ns", "local-loop", "message", "poll"),
     latency_row("... yielding", "one_way.p50_ns", "local-trip", "message", "yield", "3.6 (events instead of polling)"),
     latency_row("... sleeping", "one_way.p50_ns", "local-trip", "message", "sleep"),
     latency_row("source to built event, 8 hits", "one_way.p50_ns", "local-trip", "built event", "poll",
                 "371 minimum, spike transport suite 2012, 10 GbE, i7-2600; 96, flesnet, end of data to consumer, 1 KB"),
     latency_row("... p99 of it", "one_way.p99_ns", "local-trip", "built event", "poll")), 10, REPORT)



def tails(name, title, options):
    """Of many messages, on which other activity of the machine shows."""
    return Measurement(
        name, title, f"{BENCH} latency --sizes 8 --place local-trip --wait poll --count 300000 --repeat 1{options}",
        tuple(latency_row(label, f"one_way.{path}", "local-trip", "message", "poll") for label, path in (
            ("median", "p50_ns"), ("p99", "p99_ns"), ("p99.9", "p999_ns"), ("p99.99", "p9999_ns"), ("longest", "max_ns"))),
        3, REPORT)


TAILS = tails("tails", "300,000 messages of 8 B, one way", "")
REALTIME = tails("realtime", "the same with memory locked, SCHED_FIFO, and each rank bound to a core", " --realtime")

TIMED = Measurement(
    "timed-hits", "20 million hits/s in bursts of 25, open loop, limits on latency",
    f"{BENCH} sources --timing burst",
    tuple(row for limit in ("5ms", "7ms", "none") for row in (
        Row(f"limit {limit}: dropped", "%", point("share_dropped", scale=100, limit=limit),
            "under 1.5 % in bursts (2012 suite)" if limit == "5ms" else ""),
        Row(f"limit {limit}: to the event built", "us", point("latency.built.p50_ns", scale=1e-3, limit=limit)),
        Row(f"limit {limit}: p99", "us", point("latency.built.p99_ns", scale=1e-3, limit=limit)))), 4, REPORT)

RATE = Measurement(
    "samples", "samples of 8 bytes at a set rate",
    f"{BENCH} rate --values 1",
    (Row("missed of 3,000 at 10 kHz", "", point("missed", hz=10_000)),
     Row("missed of 30,000 at 100 kHz", "", point("missed", hz=100_000)),
     Row("latency at 100 kHz", "us", point("latency.p50_ns", scale=1e-3, hz=100_000)),
     Row("... p99", "us", point("latency.p99_ns", scale=1e-3, hz=100_000))), 3, REPORT)

SLOW = Measurement(
    "slow-builder", "one builder half as fast, 4 ranks, 200 us a slice, 5,000 slices",
    "mpirun --oversubscribe -np 4 build/eventloom bench patterns --pattern all-to-all --schedule round-robin,balanced "
    "--slow-builder 0 --build-time 200us --sizes 4KiB --slices 5000 --repeat 1",
    tuple(Row(schedule, "s", point("seconds", schedule=schedule)) for schedule in ("balanced", "round-robin")), 4, REPORT)

RATIOS = Measurement(
    "ratios", "what depends on the time that ranks get, as ratios within one run", "tests/benchmarks/ratios.sh 1",
    (*(row for ranks in (2, 4) for row in (
        Row(f"{ranks} ranks: slices of the slow builder, of the others'", "", printed(rf"^{ranks} ranks.* gives it ([\d.]+) of")),
        Row(f"{ranks} ranks: `balanced` against `round-robin`", "times as fast", printed(rf"^{ranks} ranks.* is ([\d.]+) times")))),
     Row("a message there and back, sleeping against polling", "times", printed(r"asleep ([\d.]+) times")),
     Row("precision of the clocks, of a slot of 200 us", "", printed(r"known to ([\d.]+) of"))), 15)


def clock_rows(clocks, after):
    def row(label, path):
        return Row(f"{clocks}: {label}", "us", point(path, scale=1e-3, clocks=clocks))
    return (row("shortest round trip", "round_trip_ns.least"), row("error at once", "at_sync_ns"),
            row(f"after {after}, offset alone", "uncorrected_ns"),
            row(f"after {after}, drift corrected", "corrected_ns"),
            row(f"after {after}, kept in step", "kept_ns"))


CLOCKS = Measurement(
    "clocks", "synchronised clocks of 2 ranks: the steady clock of both, then one that time services do not steer",
    f"{BENCH} clocks --clocks real,raw --duration 5s --repeat 1",
    (*clock_rows("real", "5 s"), *clock_rows("raw", "5 s")), 13, REPORT)

CLOCKS_SIMULATED = Measurement(
    "clocks-simulated", "simulated clocks, 20 ppm apart, messages of 2 us and 1 us of jitter",
    "build/eventloom bench clocks --clocks simulated --duration 100s --repeat 25",
    clock_rows("simulated", "100 s"), 1, REPORT, at_most=1)

CLOCK_PATHS = ("at once", "1 ms each way", "1 ms there, 3 ms back")
CLOCK_COLUMNS = {"shortest round trip": "shortest round trip", "error at once": "error at once",
                 "after 5 s, offset alone": "offset alone", "after 5 s, drift corrected": "drift corrected",
                 "after 5 s, kept in step": "kept in step", "error of a second synchronisation": "a second synchronisation",
                 "stated bound": "bound at once"}
CLOCKS_HOSTS = Measurement(
    "clocks-hosts", "synchronised clocks of 2 hosts in network namespaces, whose true offset is known, by path of the messages",
    "tests/benchmarks/clocks_hosts.py --repeat 1 --seconds 5",
    tuple(Row(f"{path}: {label}", "us", point(column, way=path)) for path in CLOCK_PATHS
          for label, column in CLOCK_COLUMNS.items()),
    25, REPORT, needs=("root", "ip", "unshare"))

# Stages, formats, instructions.

STAGES_PROGRAM = "build/tests/benchmarks/stages_benchmark"
STAGES_NAMES = (
    "build/gap/sources:1/pattern:0", "build/gap/sources:4/pattern:0", "build/gap/sources:16/pattern:0",
    "build/gap/sources:16/pattern:1", "build/multiplicity/sources:16/pattern:1", "build/gap/sources:100/pattern:0",
    "std_sort/sources:1/pattern:0", "std_sort/sources:4/pattern:0", "std_sort/sources:16/pattern:0")
STAGES_PUBLISHED = {"build/gap/sources:1/pattern:0": "88, a complete spike transport suite, 2012"}
STAGES = Measurement(
    "stages", "decode, sort and definition on one core, buffers of 10,000 hits, `std::sort` beside them",
    f"{STAGES_PROGRAM} --benchmark_filter='^({'|'.join(STAGES_NAMES)})$'",
    tuple(Row(f"`{name}`", "million hits/s", google(name, "hits/s", 1e-6), STAGES_PUBLISHED.get(name, ""))
          for name in STAGES_NAMES), 25, "--benchmark_out=", (STAGES_PROGRAM,))

FORMATS_PROGRAM = "build/tests/benchmarks/formats_benchmark"
FORMATS = Measurement(
    "formats", "recorded formats, one core, from the page cache", f"TMPDIR=/dev/shm {FORMATS_PROGRAM}",
    (*(Row(label, "GB/s", google(f"{name}/real_time", "bytes_per_second", 1e-9))
       for label, name in (("reading the file alone", "file_alone"), ("LMD to epoch buffers", "lmd_to_epoch_buffers"),
                           ("HLD to epoch buffers", "hld_to_epoch_buffers"))),
     Row("from the append of an epoch buffer until `?follow` has it, median", "ms",
         google("follow_epochs/real_time", "median_ms")),
     *(Row(label, "million hits/s", google(f"{name}/real_time", "items_per_second", 1e-6))
       for label, name in (("spikes to hits", "spikes_to_hits"), ("binary records of 16 bytes to hits", "packed_to_hits")))),
    20, "--benchmark_out=", (FORMATS_PROGRAM,))


def cost_row(label, definition, order, sources):
    start = re.escape(f"{definition} {order} {sources:2} sources  1 times ")
    return Row(label, "instructions a hit", printed(start + r"([\d.]+) instructions"))


COINCIDENCE = "coincidence:25ns,A>=2 && B>=2 && n_hits>=5"
COST = Measurement(
    "instructions", "instructions of the builder alone, which no load disturbs",
    "/usr/bin/python3 -B -m pytest -q -s -p no:cacheprovider tests/system/test_cost.py",
    (*(cost_row(f"`gap:25ns,5`, {n} source{'s' if n > 1 else ''}", "gap:25ns,5", "shuffled", n) for n in (1, 4, 16)),
     cost_row("`gap:25ns,5`, 1 source in order", "gap:25ns,5", "ordered", 1),
     cost_row(f"`{COINCIDENCE}`, 16 sources", COINCIDENCE, "shuffled", 16)), 60,
    needs=("valgrind", "build/tests/system/builder_cost"), at_most=2)

# Whole runs.

RECORDING = ("[ -e build/benchmarks/10s/truth.csv ] || build/eventloom generate --output build/benchmarks/10s --sources 4 "
             "--rate 1e6 --noise 2e6 --duration 10s --force")
WHOLE_RUNS = ("1s --define gap:25ns,4", "10s --define gap:25ns,4", "10s --define gap:25ns,4 --filter n_hits>=12",
              "10s --define multiplicity:50ns,6")
WHOLE = Measurement(
    "whole-run", "the whole program: 2 ranks, replay from page cache, HDF5 on disk", "tests/benchmarks/whole_run.sh 1",
    (*(Row(f"`{run}`", "million hits/s", printed(rf"^{re.escape(run)} +\d.* ([\d.]+) Mhits/s")) for run in WHOLE_RUNS),
     *(Row(f"peak memory of a rank, {run.split()[0]}", "MB", printed(rf"^{re.escape(run)} +\d.* (\d+) MB"))
       for run in WHOLE_RUNS[:2])), 25)

COMPRESSED_NAMES = ("run", "run --compress 1", "merge", "merge --compress 1", "merge --compress 0 of compressed")
COMPRESSED = Measurement(
    "compressed", "compressed output: 8.7 million hits with a payload word, one rank", "tests/benchmarks/compressed.sh 1",
    (*(Row(f"`{name}`", "s of CPU", printed(rf"^{re.escape(name)} +([\d.]+) s of CPU")) for name in COMPRESSED_NAMES),
     *(Row(f"file of `{name}`", "MB", printed(rf"^{re.escape(name)} +[\d.]+ s of CPU +([\d.]+) MB")) for name in COMPRESSED_NAMES[:2])),
    8)

EVENTS_NAMES = ("`gap:25ns,4`", "the same, offsets of sources and channels from a map",
                "`coincidence:25ns,A>=2 && B>=2`, groups and offsets from the map", "`coincidence:50ns,A>=2 && B>=2`, likewise")
EVENTS = Measurement(
    "events", "corrected times and coincidences: 32 million hits of 4 sources with 1024 channels each, in memory",
    "tests/benchmarks/events.sh 1",
    tuple(row for ranks in ("1", "2") for name in EVENTS_NAMES for row in (
        Row(f"{ranks} rank{'s' if ranks > '1' else ''}, {name}", "million hits/s", cell(3, ranks, name)),
        *([Row(f"... of the gap's rate, {ranks}, {name}", "%", cell(4, ranks, name))] if name != EVENTS_NAMES[0] else []))),
    20)

LMD_NAMES = {"cp": "", "LMD to LMD, 2 ranks": "", "LMD to LMD, 2 ranks, by run itself": "0.63 to 0.98, DABC",
             "LMD to HDF5, 1 rank": "", "LMD to HDF5, 1 rank, by run itself": "", "LMD to HDF5, 2 ranks": "",
             "LMD to HDF5, 2 ranks, by run itself": "", "HDF5 to LMD, merge --to": "",
             "two MBS servers to HDF5, 2 ranks, by run itself": "1.43 (700 MB/s), DABC"}


def lmd(name, title, folder, after="", needs=()):
    return Measurement(
        name, title, f"tests/benchmarks/lmd_speed.sh 1{folder}",
        tuple(Row(run, "s/GB", printed(rf"^{re.escape(run)} +([\d.]+) s/GB"), published)
              for run, published in LMD_NAMES.items()), 25, after=after, needs=needs)


LMD = lmd("lmd", "list mode, events of 1 KB, on disk", "")
LMD_MEMORY = lmd("lmd-memory", "list mode, events of 1 KB, disk in memory", " /dev/shm/eventloom-lmd",
                 "rm -rf /dev/shm/eventloom-lmd")
LMD_CACHE = lmd("lmd-cache", "list mode, events of 1 KB, to the page cache", " build/benchmarks/lmd eatmydata",
                needs=("eatmydata",))

BESIDE_DABC = Measurement(
    "dabc", "list mode, beside DABC: LMD files and two MBS servers, to the page cache", "tests/benchmarks/dabc.py",
    tuple(Row(run, "s/GB", printed(rf"^{run} +([\d.]+) s/GB")) for run in (
        "LMD to LMD, DABC", "LMD to LMD, Eventloom", "LMD to HDF5, Eventloom", "two MBS servers to LMD, DABC",
        "two MBS servers to LMD, Eventloom", "two MBS servers to HDF5, Eventloom")), 25, needs=("dabc_exe", "eatmydata"))

HISTOGRAMS = Measurement(
    "histograms", "five histograms, a map with gains and two conditions on values: one rank, in memory",
    "tests/benchmarks/histograms.sh 1",
    (Row("without histograms", "million hits/s", printed(r"^without histograms ([\d.]+) ")),
     Row("with five", "million hits/s", printed(r"with five ([\d.]+):")),
     Row("share", "%", printed(r": (\d+) %"))), 10)

CLUSTERS = Measurement(
    "clusters", "clusters of Timepix3 pixels on one core, beside rustpix, whose exact algorithm (grid) finds the same ones",
    "tests/benchmarks/clusters.py 1",
    (Row("the whole run, from the file to HDF5", "million hits/s", printed(r"^eventloom, the whole run ([\d.]+)")),
     Row("reading alone, to epoch buffers", "million hits/s", printed(r"^eventloom, reading ([\d.]+)")),
     Row("clustering alone", "million hits/s", printed(r"^eventloom, clustering ([\d.]+)")),
     Row("rustpix: reading alone", "million hits/s", printed(r"^rustpix, reading ([\d.]+)")),
     Row("rustpix: clustering alone, abs", "million hits/s", printed(r"^rustpix, abs ([\d.]+)"), "20, rustpix's own figure"),
     Row("rustpix: clustering alone, grid", "million hits/s", printed(r"^rustpix, grid ([\d.]+)"), "15, likewise")), 40,
    needs=("rustpix", "build/tests/benchmarks/clusters_benchmark"))

RESUME = Measurement(
    "resume", "safe writing, 32 million hits on 2 ranks, and the time to resume and stop again",
    "REPEAT=1 tests/benchmarks/resume.sh",
    (*(Row(f"{place}: {what}", "s", printed(rf"{place}: +{pattern}")) for place in ("on disk", "in memory")
       for what, pattern in (("one part a writer", r"one part a writer ([\d.]+) s"),
                             ("18 parts", r"one part a writer [\d.]+ s, \d+ parts ([\d.]+) s"))),
     *(Row(f"resume after about {about} parts", "s", printed(rf"^ +{digits} parts finished: ([\d.]+) s"))
       for about, digits in (("20", r"\d{2}"), ("130", r"\d{3}"), ("1,200", r"\d{4}")))), 45)

MONITOR = Measurement(
    "monitor", "what progress, the monitor and a reader cost at full rate", "tests/benchmarks/monitor.sh 1",
    tuple(Row(name, "million hits/s", printed(rf"^{name} +([\d.]+) Mhits/s")) for name in ("none", "progress", "monitor", "read")),
    20, prepare=RECORDING)

MONITOR_INSTRUCTIONS = Measurement(
    "monitor-cost", "what the monitor costs in instructions, which no load disturbs", "tests/benchmarks/monitor_instructions.sh",
    (Row("a hit, without the monitor", "instructions", printed(r"without the monitor: ([\d.]+)")),
     Row("a hit, with it", "instructions", printed(r"with it: +([\d.]+)")),
     Row("by the clock", "million a second", printed(r"by the clock: +([\d.]+)")),
     Row("together", "% of a run's instructions", printed(r"together: +([-+\d.]+) %"))), 250, needs=("valgrind",), at_most=2)

LOAD = Measurement(
    "monitor-load", "a run with the monitor beside 500 hostile clients", "tests/benchmarks/monitor_load.sh 1 500",
    tuple(Row(name, "million hits/s", printed(rf"^{name} +([\d.]+) Mhits/s")) for name in ("alone", "loaded")), 20,
    prepare=RECORDING)

HITS = r"[-\d.]+ +"
LIVE = Measurement(
    "live", "live input: 1 MHz of hits over UDP with --flush-after 1ms, and 200 MB/s", "tests/benchmarks/live.sh 1",
    tuple(Row(label, unit, printed(rf"^median {HITS * n}([\d.]+)")) for n, (label, unit) in enumerate((
        ("1 rank: hit to built event", "ms"), ("1 rank: p99", "ms"), ("2 ranks: hit to built event", "ms"), ("2 ranks: p99", "ms"),
        ("200 MB/s, 2 ranks: hits lost", "hits"), ("... of", "hits"), ("... in", "s")))), 18)

REPLY_PLACES = (("loop", "hit to reply"), ("complete", "datagram that completes the slice to reply"), ("echo", "plain UDP echo"))
REPLY = Measurement(
    "reply", "closed loops: from a board's hit to the reply to its event, 500 events/s, beside a plain UDP echo",
    "build/eventloom bench reply --repeat 1",
    (*(Row(f"slices of {slice_us} us: {what}{suffix}", "us", point(f"latency.{place}.{percentile}_ns", scale=1e-3, epochs_per_slice=epochs))
       for epochs, slice_us in ((1, 10), (10, 100), (100, 1000)) for place, what in REPLY_PLACES
       for percentile, suffix in (("p50", ""), ("p99", ", p99"))),
     *(Row(f"slices of {slice_us} us: events without a reply, of 1,000", "", point("lost", epochs_per_slice=epochs))
       for epochs, slice_us in ((1, 10), (10, 100), (100, 1000)))), 12, REPORT)

TRB = Measurement(
    "trb", "8 TRB boards at 50 kHz of triggers of 500 bytes each, from `send` to built events", "tests/benchmarks/trb.py 1",
    (Row("events built", "events", printed(r"triggers, (\d+) events")),
     Row("triggers sent", "triggers", printed(r"^(\d+) triggers")),
     Row("rate sent", "kHz", printed(r"([\d.]+) kHz sent")),
     Row("datagrams dropped by the kernel", "", printed(r"kernel drops (\d+)"))), 12)

# Hosts with slow links; a network that is not there.

INCAST = {"round-robin": "1.15 s, no drops, barrel shift, bare program; the bytes' own time 0.59 s",
          "unshifted": "1.95 to 2.15 s, 24 to 111 drops, all starting at host 0"}
LINKS = Measurement(
    "shaped-links", "who sends when: 8 hosts at 100 Mbit that drop what waits, 1 MiB messages",
    "tests/benchmarks/shaped_links.py 1",
    tuple(row for schedule in ("round-robin", "chaotic", "unshifted") for row in (
        Row(schedule, "s", cell(1, schedule), INCAST.get(schedule, "")),
        Row(f"... packets dropped, {schedule}", "", cell(3, schedule)))), 25, needs=("root", "tc", "ip"))

PREDICTED_POINTS = tuple(f"{schedule}, {size} KiB" for size in (64, 256, 1024)
                         for schedule in ("round-robin", "chaotic", "unshifted", "balanced")) + (
    "round-robin, slots of 105ms, 1024 KiB",)
PREDICTION = Measurement(
    "prediction", "simulated beside measured: 8 hosts at 100 Mbit that drop nothing, of the time that the bytes take",
    "tests/benchmarks/prediction.py 3 4",
    tuple(row for name in PREDICTED_POINTS for row in (
        Row(f"{name}: measured", "", cell(1, name)), Row(f"{name}: simulated", "", cell(2, name)))), 200,
    needs=("root", "tc", "ip", "build/eventloom-simulator"))

TIME = "/usr/bin/time -f"


def simulation(nodes, topology, schedule):
    return (f"{TIME} '{nodes} {schedule} %U %S %M' build/eventloom simulate --topology '{topology}' --nodes {nodes} "
            f"--link 100Gbit,1us --schedule {schedule} --sizes 256KiB --slices 1")


TREES = {64: "fat-tree:2;8,8;1,8;1,1", 256: "fat-tree:2;16,16;1,16;1,1", 1024: "fat-tree:2;32,32;1,32;1,1"}


def user_and_system(start):
    return lambda output: printed(start + r" ([\d.]+) ")(output) + printed(start + r" [\d.]+ ([\d.]+)")(output)


def peak(start, scale):
    return lambda output: scale * printed(start + r" [\d.]+ [\d.]+ (\d+)$")(output)


def simulations(name, of, seconds, at_most=100):
    """What simulating some numbers of nodes takes."""
    points = [(nodes, schedule) for nodes in of for schedule in ("round-robin", "balanced")]
    return Measurement(
        name, f"a simulation of {' and '.join(map(str, of))} nodes: CPU time and memory",
        " && ".join(simulation(nodes, TREES[nodes], schedule) for nodes, schedule in points),
        tuple(row for nodes, schedule in points for row in (
            Row(f"{nodes} nodes, {schedule}", "s", user_and_system(f"^{nodes} {schedule}")),
            Row(f"... memory, {nodes} nodes, {schedule}", "GB", peak(f"^{nodes} {schedule}", 1024e-9)))), seconds,
        needs=("build/eventloom-simulator", "/usr/bin/time"), at_most=at_most)


SIMULATE = simulations("simulate", (64, 256), 12)
SIMULATE_LARGE = simulations("simulate-large", (1024,), 760, at_most=1)

# What is done with the output.


def reading(name, title, command, seconds, prepare, after):
    """A command that reads output: what it uses."""
    return Measurement(
        name, title, f"{TIME} 'used %U %S %M' build/eventloom {command}",
        (Row("CPU time", "s", user_and_system("^used")), Row("memory", "MB", peak("^used", 1024e-6))), seconds,
        needs=("/usr/bin/time",), prepare=prepare, after=after)


REPORTED = "build/benchmarks/reported.h5"
REPORT_PAGE = reading(
    "report", "report of a run with 95 million hits in 6.2 million events, 1.6 GB",
    f"report {REPORTED} -o build/benchmarks/report.html", 2,
    prepare="mkdir -p build/benchmarks && build/eventloom run 'gen:poisson?rate=1e7&channels=1024&seed=1&duration=10s' "
            f"--define gap:250ns,4 --force --output {REPORTED} || [ $? = 3 ]",  # some events are longer than the overlap
    after="rm -f build/benchmarks/reported.* build/benchmarks/report.html")

COMPARED = "build/benchmarks/compared"
COMPARE = reading(
    "compare", "`compare` of two merged files with 10 million events, 40 million hits each",
    f"compare {COMPARED}/a.h5 {COMPARED}/b.h5", 8,
    prepare=f"rm -rf {COMPARED} && build/eventloom generate --output {COMPARED} --sources 1 --rate 1e6 --timing static "
            f"--hits 4 --noise 0 --duration 10s && build/eventloom run '{COMPARED}/*.epochs' --define gap:100ns,1 "
            f"--output {COMPARED}/run.h5 && build/eventloom merge {COMPARED}/run.h5 -o {COMPARED}/a.h5 && "
            f"cp {COMPARED}/a.h5 {COMPARED}/b.h5",
    after=f"rm -rf {COMPARED}")

PYTHON = Measurement(
    "python", "the Python package: hits to `.epochs`, and all columns of a run in chunks, CPU time of one core",
    "/usr/bin/python3 -B tests/benchmarks/python_speed.py",
    tuple(Row(name, "million hits/s", printed(rf"^{name}: ([\d.]+)")) for name in ("written", "written with a word each", "read")),
    6)

MEASUREMENTS = (EXCHANGE, PEERS, ZEROMQ, SPREAD, COPY, RING, LATENCY, TAILS, REALTIME, TIMED, RATE, SLOW, RATIOS, CLOCKS,
                CLOCKS_SIMULATED, CLOCKS_HOSTS, STAGES, FORMATS, COST, WHOLE, COMPRESSED,
                EVENTS, HISTOGRAMS, CLUSTERS, LMD, LMD_MEMORY, LMD_CACHE, BESIDE_DABC, RESUME, MONITOR, MONITOR_INSTRUCTIONS, LOAD, LIVE,
                REPLY, TRB,
                LINKS, PREDICTION, SIMULATE, SIMULATE_LARGE, REPORT_PAGE, COMPARE, PYTHON)
