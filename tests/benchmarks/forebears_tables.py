"""What forebears.py measures, and the tables in which it stands beside what others have published."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import published as others
from measurements import CLOCKS_HOSTS, EVENTS, KIB, REPORT, Measurement, point, size_name

SCHEDULED = ("all-to-all", "fixed-target", "one-to-all", "all-to-one")
LINK_SIZES = [KIB << n for n in range(9)]
ALL_SIZES = [8 << n for n in range(13)]
EMITTERS, LIMITS = ("static", "gaussian", "burst"), ("5ms", "7ms", "none")
RATES, VALUES = (100, 1_000, 10_000, 100_000), (1, 4, 16, 64)
DEPTHS, CELLS = (1, 2, 4, 8, 16, 32), (16 * KIB, 256 * KIB, 1024 * KIB, 4096 * KIB, 32768 * KIB)
WAITS = {"poll": "poll", "yield": "poll, yield between", "timer": "woken by a timer, 10 us", "sleep": "sleep, 5 us"}
SMALL, LARGE = 64, 1024 * KIB
CLIENT_RANKS = 4
OVERSUBSCRIBED = "mpirun --oversubscribe"  # more ranks than cores


# What is measured.

def listed(values):
    return ",".join(map(str, values))


@dataclass(frozen=True)
class Amount:
    """How much is measured: all, or enough to see that every command and table works."""
    quick: bool

    def of(self, values):
        return listed((values[0], values[-1]) if self.quick else values)

    def either(self, thorough, quick):
        return quick if self.quick else thorough


def bench(name, title, words, ranks=2, needs=(), launcher="mpirun"):
    command = f"{launcher} -np {ranks} build/eventloom bench {words}" if ranks else f"build/eventloom bench {words}"
    return Measurement(name, title, command, (), 10, REPORT, needs)


def dabc_runs(amount, ranks):
    repeat = amount.either("--repeat 3", "--repeat 1 --seconds 0.02")
    sizes, all_to_all = amount.of(LINK_SIZES[:-1]), "patterns --pattern all-to-all"
    return (
        bench("all-to-all", "all to all, by schedule", f"{all_to_all} --schedule round-robin,chaotic --sizes {amount.of(LINK_SIZES)} "
              f"{repeat}", ranks),
        bench("scheduled", "four patterns, beside MPI messages", f"patterns --pattern {listed(SCHEDULED)} --schedule round-robin "
              f"--sizes {sizes} --peer mpi {repeat}", ranks),
        bench("queues", "all to all without a schedule, by receive queue", f"{all_to_all} --schedule chaotic --queue 11,20,100 "
              f"--sizes {sizes} {repeat}", ranks),
        bench("control", "all to all beside control traffic", f"{all_to_all} --schedule round-robin --sizes 8KiB --control 10 {repeat}",
              ranks),
        bench("varying", "all to all, sizes varying by 50 %", f"{all_to_all} --schedule chaotic --sizes 8KiB --spread 50 {repeat}", ranks),
        bench("million", "one to one, beside MPI messages", "patterns --pattern one-to-one --schedule round-robin --sizes 1000000 "
              f"--peer mpi {repeat}"),
        bench("clocks", "clocks between ranks", "clocks --clocks raw --sync " + amount.either("1s --duration 10s", "0.1s --duration 0.2s")
              + " --repeat 1"),
        bench("clocks-simulated", "simulated clocks", "clocks --clocks simulated --duration 10s,100s --repeat 25", ranks=0),
        replace(CLOCKS_HOSTS, command="tests/benchmarks/clocks_hosts.py " + amount.either("--repeat 3 --seconds 5",
                                                                                         "--repeat 1 --seconds 1")))


def latency_runs(amount):
    count = amount.either("--repeat 3", "--count 300 --warm-up 100 --repeat 1")
    return (
        bench("latency", "messages within a rank and between two", "latency --wait poll --place local-loop,local-trip --peer put,mpi "
              f"--sizes {listed((16, 32, 4 * KIB)) if amount.quick else listed(ALL_SIZES)} {count}"),
        bench("waiting", "ways of waiting", f"latency --sizes 32 --place local-trip --wait {listed(WAITS)} "
              + amount.either("--count 5000 --repeat 3", "--count 300 --warm-up 100 --repeat 1")),
        bench("link", "one to one, 4 KiB", "patterns --pattern one-to-one --schedule round-robin --sizes 4KiB "
              + amount.either("--repeat 5", "--repeat 1 --seconds 0.02")),
        bench("rate", "samples at a set rate", f"rate --hz {amount.of(RATES)} --values {amount.of(VALUES)} --seconds "
              + amount.either("0.5 --repeat 3", "0.1 --repeat 1")))


def other_runs(amount):
    seconds, repeat = amount.either("0.5", "0.1"), amount.either("3", "1")
    return (
        bench("emitters", "hits in real time, 20 million a second", f"sources --timing {listed(EMITTERS)} --limit {listed(LIMITS)} "
              f"--seconds {seconds} --repeat {repeat}"),
        bench("early", "hits in real time, few of them, sent at once", "sources --timing static --rate 1e6 --packet 100 --flush-after 10us "
              f"--limit none --seconds {seconds} --repeat {repeat}"),
        *(() if amount.quick else (Measurement("whole", EVENTS.title, "tests/benchmarks/events.sh 3", (), 3 * EVENTS.seconds),)),
        bench("clients", "clients to one server", f"scan --what clients --message 16KiB --repeat {repeat}", CLIENT_RANKS,
              launcher=OVERSUBSCRIBED),
        bench("steps-small", "steps of a small message", f"scan --what breakdown --message {SMALL} --repeat {repeat}"),
        bench("steps-large", "steps of a large message", f"scan --what breakdown --message {LARGE} --repeat {repeat}"),
        bench("zeromq", "the same over ZeroMQ", "patterns --pattern one-to-one --schedule round-robin --sizes 1MiB --peer zmq-ipc,zmq-tcp "
              f"--repeat {repeat}", needs=("ZeroMQ",)),
        # Last: a hypervisor that takes back its memory does so during the next commands, a tenth of a core for seconds.
        bench("rings", "rings of different depths and cells", f"scan --what rings --depths {amount.of(DEPTHS)} --cells "
              f"{listed(CELLS[:1] if amount.quick else CELLS)} --memory 1GiB --repeat 1"))


def runs(quick, cores):
    amount = Amount(quick)
    all_runs = (*dabc_runs(amount, max(2, min(4, cores))), *latency_runs(amount), *other_runs(amount))
    return all_runs if cores > 1 else tuple(replace(run, command=run.command.replace("mpirun -np", f"{OVERSUBSCRIBED} -np"))
                                            for run in all_runs)


# How it is shown.

@dataclass(frozen=True)
class Cell:
    """A figure of a run, and what others have published for it: a number, or words where there is no number."""
    run: str
    read: Callable  # of the run's output
    published: float | str | None = None


@dataclass(frozen=True)
class Table:
    title: str
    source: others.Source
    unit: str
    first: str  # head of the first column
    rows: dict  # label to the cells of the row, by head
    note: str = ""  # published, in words


def sized(size):
    return size_name(size) if size >= KIB else f"{size} B"


def column(head, run, read, published=None):
    """read(key): what reads the figure of the row with that key."""
    return head, lambda key: Cell(run, read(key), (published or {}).get(key))


def grid(keys, columns, label=sized):
    return {label(key): {head: cell(key) for head, cell in columns} for key in keys}


def by_size(path="rate_bytes_per_us", **match):
    return lambda size: point(path, message_bytes=size, **match)


def of_run(run, read, published=None):
    return {"": Cell(run, read, published)}


# DABC.

RATE = "bytes/us that a node receives"


def dabc_12(title, scheduled, chaotic):
    columns = [column(head, "all-to-all", by_size(pattern="all-to-all", schedule=schedule), published)
               for head, schedule, published in (("scheduled", "round-robin", scheduled), ("chaotic", "chaotic", chaotic))]
    columns.append(column("of bare put, scheduled [%]", "all-to-all",
                          by_size("share", pattern="all-to-all", schedule="round-robin", scale=100)))
    return Table(title, others.DABC, RATE, "message", grid(LINK_SIZES, columns))


def dabc_56(title, path, published):
    columns = [column(pattern, "scheduled", by_size(path, pattern=pattern), published[pattern]) for pattern in SCHEDULED]
    return Table(title, others.DABC, RATE, "message", grid(LINK_SIZES[:-1], columns))


def dabc_7():
    columns = [column(f"queue of {queue}", "queues", by_size(queue=queue), published)
               for queue, published in others.CHAOTIC_QUEUES.items()]
    return Table("Table 9.7: without a schedule, by receive queue", others.DABC, RATE, "message", grid(LINK_SIZES[:-1], columns))


def dabc_text():
    def message(path, scale=1):
        return point(path, place="local-trip", peer="mpi", kind="message", message_bytes=16, scale=scale)
    return Table("Figures of the text", others.DABC, "", "figure", {
        "all to all over verbs, 1 KiB [bytes/us]":
            of_run("all-to-all", point("rate_bytes_per_us", schedule="chaotic", message_bytes=KIB), others.VERBS_1_KIB),
        "all to all beside 10 % of control traffic, 8 KiB [bytes/us]":
            of_run("control", point("rate_bytes_per_us", message_bytes=8 * KIB), others.WITH_CONTROL),
        "all to all, sizes varying by 50 %, 8 KiB [bytes/us]":
            of_run("varying", point("rate_bytes_per_us", message_bytes=8 * KIB), "as with fixed sizes (table 9.7)"),
        "MPI messages of 1,000,000 bytes, one to one [MB/s]":
            of_run("million", point("peers.mpi.rate_bytes_per_us", message_bytes=1_000_000), others.MPI_BANDWIDTH),
        "MPI message of 16 bytes, one way [us]": of_run("latency", message("one_way.p50_ns", 1e-3), others.MPI_LATENCY)})


def between_hosts(label, path="at once"):
    (row,) = [row for row in CLOCKS_HOSTS.rows if row.label == f"{path}: {label}"]
    return of_run("clocks-hosts", row.read)


def dabc_clocks():
    def simulated(path, seconds):
        return point(path, scale=1e-3, clocks="simulated", after_s=seconds)
    return Table("Section 9.3.6: clocks", others.DABC, "us", "figure", {
        "round trip of a time stamp": of_run("clocks", point("round_trip_ns.p50", scale=1e-3), others.CLOCK_ROUND_TRIP),
        "error at once": of_run("clocks", point("at_sync_ns", scale=1e-3), others.CLOCK_PRECISION),
        "round trip of a time stamp between two hosts (network namespaces, TCP)": between_hosts("shortest round trip"),
        "error at once between them, against the known offset": between_hosts("error at once"),
        "... after 5 s, drift corrected": between_hosts("after 5 s, drift corrected"),
        "... at once, messages take 1 ms each way": between_hosts("error at once", "1 ms each way"),
        "error at once, simulated clocks": of_run("clocks-simulated", simulated("at_sync_ns", 100), others.CLOCK_PRECISION),
        "after 10 s, offset alone, simulated clocks 20 ppm apart":
            of_run("clocks-simulated", simulated("uncorrected_ns", 10), others.CLOCK_UNCORRECTED_10_S),
        "after 100 s, drift corrected, simulated": of_run("clocks-simulated", simulated("corrected_ns", 100), others.CLOCK_CORRECTED_100_S),
        "after 100 s, kept in step, simulated": of_run("clocks-simulated", simulated("kept_ns", 100))})


# The others.

def emitters():
    def read(path, scale):
        return lambda key: point(path, scale=scale, timing=key[0], limit=key[1])
    columns = [column("built [million hits/s]", "emitters", read("throughput_hits_per_us", 1)),
               column("dropped [%]", "emitters", read("share_dropped", 100), others.SPIKES_DROPPED),
               *(column(f"{stage}, {name} [us]", "emitters", read(f"latency.{stage}.{percentile}_ns", 1e-3))
                 for stage in ("built", "written") for percentile, name in (("p50", "median"), ("p99", "p99")))]
    return Table("Three emitters and limits on latency, 20 million hits/s", others.SPIKES, "", "emitter, limit",
                 grid([(timing, limit) for timing in EMITTERS for limit in LIMITS], columns, ", ".join))


def spikes_text():
    (in_memory,) = [row for row in EVENTS.rows if row.label == "2 ranks, `gap:25ns,4`"]
    return Table("Rate and latency", others.SPIKES, "", "figure", {
        "most events (hits) a second [million/s]": of_run("whole", in_memory.read, others.SPIKE_RATE),
        "lowest latency, from source to built event [us]":
            of_run("early", point("latency.built.min_ns", scale=1e-3, limit="none"), others.SPIKE_LATENCY),
        "... its median [us]": of_run("early", point("latency.built.p50_ns", scale=1e-3, limit="none"))})


def latency():
    def read(path, place, peer="ring"):
        return lambda size: point(path, scale=1e-3, place=place, peer=peer, kind="message", message_bytes=size)
    columns = [column("loop", "latency", read("one_way.p50_ns", "local-loop")),
               column("trip (FPGA)", "latency", read("one_way.p50_ns", "local-trip"), others.FPGA_ONE_WAY),
               column("trip, bare put (InfiniBand send)", "latency", read("one_way.p50_ns", "local-trip", "put"), others.SEND_ONE_WAY),
               column("trip, p99", "latency", read("one_way.p99_ns", "local-trip")),
               column("round trip", "latency", read("round_trip.p50_ns", "local-trip")),
               column("round trip, p99", "latency", read("round_trip.p99_ns", "local-trip"))]
    return Table("Loop, trip and round trip by size", others.FPGA, "us", "message", grid(ALL_SIZES, columns),
                 f"InfiniBand sends: {others.INFINIBAND.name}; reliable connection, MTU 4 KiB; {others.INFINIBAND.hardware}; "
                 f"{others.INFINIBAND.reference}")


def link():
    return Table("Rate of messages of 4 KiB", others.FPGA, "", "figure", {
        "rate [Gbit/s]": of_run("link", point("rate_bytes_per_us", scale=8e-3, message_bytes=4 * KIB), others.FPGA_RATE),
        "most that the link carries (ours: bare put) [Gbit/s]":
            of_run("link", point("ceiling_bytes_per_us", scale=8e-3, message_bytes=4 * KIB), others.FPGA_LINK),
        "share [%]": of_run("link", point("share", scale=100, message_bytes=4 * KIB), round(100 * others.FPGA_RATE / others.FPGA_LINK, 1))})


def waiting():
    def read(path, scale=1e-3):
        return lambda wait: point(path, scale=scale, wait=wait, kind="message")
    columns = [column("one way", "waiting", read("one_way.p50_ns"), others.WAITING), column("p99", "waiting", read("one_way.p99_ns")),
               column("p99.9", "waiting", read("one_way.p999_ns")),
               column("CPU of a message", "waiting", read("cpu_us_per_message", 1))]
    return Table("Ways of waiting, 32 B", others.POLLING, "us", "waiting", grid(WAITS, columns, WAITS.get))


def rates():
    def read(path, scale=1):
        return lambda key: point(path, scale=scale, hz=key[0], values=key[1])
    def share(key):
        return lambda output: 100 * read("missed")(key)(output) / read("steps")(key)(output)
    columns = [column("steps", "rate", read("steps")), column("missed [%]", "rate", share), column("lost", "rate", read("lost")),
               column("median [us]", "rate", read("latency.p50_ns", 1e-3)), column("p99 [us]", "rate", read("latency.p99_ns", 1e-3))]
    return Table("Samples at a set rate: missed steps and latency", others.INFINIBAND, "", "rate, values of 8 bytes",
                 grid([(hz, values) for values in VALUES for hz in RATES], columns, lambda key: f"{key[0]:,} Hz, {key[1]}"), others.VILLAS)


# ZeroMQ over RapidIO.

def best_ring(of):
    """Of the fastest ring."""
    def read(output):
        return of(max(output.report["points"], key=lambda ring: ring["rate_bytes_per_us"]))
    return read


def ring_rates():
    def read(cell):
        return lambda depth: point("rate_bytes_per_us", part="rings", queue=depth, message_bytes=cell)
    return Table("Rings: positions and cells", others.RAPIDIO, "bytes/us, one to one", "positions",
                 grid(DEPTHS, [column(f"cells of {size_name(cell)}", "rings", read(cell)) for cell in CELLS], str),
                 f"best with {others.RAPIDIO_BEST}")


def rapidio_text():
    def peer(name):
        return point(f"peers.{name}.rate_bytes_per_us", scale=8e-3, message_bytes=LARGE)
    return Table("ZeroMQ, and the best ring", others.RAPIDIO, "", "figure", {
        "ZeroMQ [Gbit/s]": of_run("zeromq", peer("zmq-tcp"), others.RAPIDIO_RATE),
        "ZeroMQ over ipc [Gbit/s]": of_run("zeromq", peer("zmq-ipc")),
        "our ring, at its best [Gbit/s]": of_run("rings", best_ring(lambda ring: 8e-3 * ring["rate_bytes_per_us"])),
        "most that the link carries (ours: bare put) [Gbit/s]":
            of_run("rings", best_ring(lambda ring: 8e-3 * ring["ceiling_bytes_per_us"]), others.RAPIDIO_LINK),
        "share of it [%]": of_run("rings", best_ring(lambda ring: 100 * ring["share"]),
                                 round(100 * others.RAPIDIO_RATE / others.RAPIDIO_LINK, 1)),
        "positions of that ring": of_run("rings", best_ring(lambda ring: ring["queue"]), "8 to 16"),
        "cells of that ring [MiB]": of_run("rings", best_ring(lambda ring: ring["message_bytes"] / KIB / KIB), "4 to 32 (MB)")})


def clients():
    def read(path):
        return lambda count: point(path, part="clients", clients=count)
    columns = [column("together", "clients", read("rate_bytes_per_us")), column("each", "clients", read("per_client_bytes_per_us"))]
    return Table("Clients to one server, 16 KiB", others.RAPIDIO, "bytes/us", "clients", grid(range(1, CLIENT_RANKS), columns, str))


STEPS = ("send: copy to staging", "send: checksum of the body", "send: header", "send: MPI_Put of the body", "send: MPI_Put of 16 bytes",
         "send: MPI_Put of 16 bytes + MPI_Win_flush", "receive: look for a descriptor in vain", "receive: MPI_Win_sync",
         "receive: header", "either: progress (MPI_Iprobe)", "all: one message through the exchange")


def steps():
    columns = [column(sized(size), run, lambda step: point("ns", part="breakdown", what=step))
               for size, run in ((SMALL, "steps-small"), (LARGE, "steps-large"))]
    return Table("Steps of a small and of a large message", others.RAPIDIO, "ns", "step", grid(STEPS, columns, str))


SECTIONS = {
    "DABC": (dabc_12("Table 9.1: all to all, IBGold", others.IBGOLD_SCHEDULED, others.IBGOLD_CHAOTIC),
             dabc_12("Table 9.2: all to all, OFED", others.OFED_SCHEDULED, others.OFED_CHAOTIC),
             dabc_56("Table 9.5: messages (ours: MPI messages)", "peers.mpi.rate_bytes_per_us", others.MESSAGES),
             dabc_56("Table 9.6: RDMA (ours: the exchange)", "rate_bytes_per_us", others.RDMA),
             dabc_7(), dabc_text(), dabc_clocks()),
    "Spike transport": (emitters(), spikes_text()),
    "Latency": (latency(), link(), waiting(), rates()),
    "Rings": (rapidio_text(), ring_rates(), clients(), steps()),
}
