"""Live runs and their senders: programs that run concurrently, on ports of this machine, and end with the `with`."""

import contextlib
import json
import random
import re
import socket
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy

from datagrams import DATA, END, FIELDS, HEADER, HOST, MARK, sealed
from epochs_file import hits_of_file, read_epochs_file
from interrupted import Started, until
from program import Run, eventloom, generate
from reference import INCOMPLETE, find_events, merged_file, weave
from results import assert_balanced, dropped, event_keys, read_merged

EPOCH = 10_000  # ticks
NEAR = 1_000  # ticks: hits farther apart are unrelated


def free_port(kind=socket.SOCK_DGRAM):
    """An unused port that the system assigns only to a program that requests it by number."""
    least = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        with socket.socket(socket.AF_INET, kind) as probe, contextlib.suppress(OSError):
            port = random.SystemRandom().randrange(least // 2, least)
            probe.bind((HOST, port))
            return port


@dataclass
class Socket:
    """A socket as listed by the kernel, with addresses and states in its notation."""

    address: str
    port: int
    peer_port: int
    state: str
    to_send: int  # bytes waiting
    to_read: int


def sockets(kind, port, of_peers=False):
    """The sockets of this machine bound to this port, or, with `of_peers`, connected to it; `kind`: udp or tcp."""
    lines = [line for name in (kind, f"{kind}6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    found = []
    for _, local, remote, state, queues, *_ in map(str.split, lines):
        address, number = local.split(":")
        peer = int(remote.rpartition(":")[2], 16)
        found.append(Socket(address, int(number, 16), peer, state, *(int(text, 16) for text in queues.split(":"))))
    return [one for one in found if (one.peer_port if of_peers else one.port) == port]


def drained(port):
    """Returns when everything received on a UDP port has been read."""
    def empty():
        found = sockets("udp", port)
        assert found, f"no process has port {port}"
        return not any(one.to_read for one in found)
    until(empty, f"everything received on port {port} has been read")


def udp(port, **keys):
    """The URI of a source; the keys as in `sources="0,1"`."""
    query = "&".join(f"{name}={value}" for name, value in keys.items())
    return f"udp://{HOST}:{port}" + (f"?{query}" if query else "")


class Recording:
    """Streams made by `eventloom generate`, and the result of a run of these files. Shared, never changed."""

    def __init__(self, folder, define, slice_epochs, **options):
        self.folder, self.slice_epochs = folder, slice_epochs
        self.meaning = ["--define", define, "--epochs-per-slice", slice_epochs]
        self.define = define
        self.uris = generate(folder / "streams", **options)
        self.paths = [Path(uri.removeprefix("file:")) for uri in self.uris]

    @cached_property
    def files(self):
        return [read_epochs_file(path) for path in self.paths]

    @cached_property
    def replay(self):
        """Datasets of the run of these files."""
        run = Run(self.folder / "replay", self.uris, *self.meaning)
        return datasets(run.merged)

    @property
    def slice_ticks(self):
        return self.slice_epochs * EPOCH

    @property
    def n_slices(self):
        return len(self.replay["ledger/slice"])

    def hits(self, source, begin=0, end=2**64):
        """Number of hits of the epoch buffers of a source that begin in these epochs."""
        return sum(b.n_hits for b in self.files[source].buffers if begin <= b.first_epoch < end)

    def sent(self):
        return sum(self.hits(source) for source in range(len(self.files)))

    @cached_property
    def _decoded(self):
        """For each stream its hits, and for each hit the number of its epoch buffer."""
        return [(hits_of_file(file), numpy.repeat(numpy.arange(len(file.buffers)), [b.n_hits for b in file.buffers]))
                for file in self.files]

    def events_without(self, lost):
        """Keys (results.event_keys) of the events that the serial reference finds without the epoch buffers
        {source: numbers}."""
        kept = [hits.take(numpy.flatnonzero(~numpy.isin(number, list(lost.get(source, ())))))
                for source, (hits, number) in enumerate(self._decoded)]
        return event_keys(merged_file(find_events(weave(kept), self.define, EPOCH)))


def datasets(path):
    """All datasets of a merged file that hold results, not how they were produced."""
    found = read_merged(path)
    with h5py.File(path) as file:
        found["events/slice"] = file["events/slice"][:]
        found |= {f"ledger/{name}": column[:] for name, column in file["ledger"].items() if name != "builder"}
    return found


def ledger_of(found):
    return {name.removeprefix("ledger/"): column for name, column in found.items() if name.startswith("ledger/")}


def losses(found):
    """{cause: hits of the whole run}, for causes with any."""
    return {cause: hits for cause, hits in dropped(ledger_of(found)).items() if hits}


def rows(found):
    """{slice: all its columns in the ledger, by name}"""
    ledger = ledger_of(found)
    return {int(number): {name: int(column[k]) for name, column in ledger.items()}
            for k, number in enumerate(ledger["slice"])}


def masked(found):
    """{slice: mask} of the incomplete slices."""
    return {number: row["sources_missing"] for number, row in rows(found).items() if row["sources_missing"]}


# Both outputs as one text, in the order in which a terminal shows them.
TERMINAL = ("sh", "-c", 'exec "$@" 2>&1', "sh")


class LiveRun(Started):
    """`eventloom run` in a separate folder. URIs may be of any kind."""

    def __init__(self, folder, uris, *options, np=None):
        self.uris = list(uris)
        words = [word for uri in self.uris for word in ("--source", uri)]
        super().__init__(folder, "run", *words, *options, "--output", "run.h5", "--report-json", "report.json", np=np,
                         launcher=TERMINAL)

    def listening(self):
        """Returns itself, once every UDP port is bound."""
        ports = {int(uri.partition("?")[0].rpartition(":")[2]) for uri in self.uris if uri.startswith("udp:")}

        def ready():
            assert self.process.poll() is None, f"ended before it listened\n{self.text()}"
            return all(sockets("udp", port) for port in ports)
        until(ready, f"ports {ports} bound", so_far=self.text)
        return self

    def signal(self, number):
        """Sends the signal to rank 0."""
        with contextlib.suppress(ProcessLookupError):
            self.send(number, 0)

    def found(self, code=0, timeout=60):
        """Datasets of the merged file, after the run has ended with this code."""
        self.wait(code, timeout)
        return merged(self.folder)

    def report(self):
        return json.loads((self.folder / "report.json").read_text())


def send(paths, port, *options, host=HOST):
    """`eventloom send` of recorded streams to a port of this machine."""
    return Started(Path(paths[0]).parent, "send", *paths, "--to", f"udp://{host}:{port}", *options)


def until_it_hears_the_end(run, port, output, session, epoch):
    """Waits for the end of a run to whose port `send --session` has sent; `output`: that of send. The end that it
    sent may have been lost while the run did not read, so it is repeated: nothing follows before `epoch`."""
    sent = re.findall(r"(\d+) buffers, (\d+) hits", output)
    with contextlib.ExitStack() as stack:
        boards = [stack.enter_context(Board(SimpleNamespace(source=n), port, session=session)) for n in range(len(sent))]
        ends = [board.mark(epoch, END, int(hits), int(buffers)) for board, (buffers, hits) in zip(boards, sent)]

        def ended():
            with contextlib.suppress(ConnectionRefusedError):
                for board, end in zip(boards, ends):
                    board.send(end)
            return run.process.poll() is not None
        until(ended, "the end of the run", so_far=run.text)


def merged(folder):
    """Datasets written by a run in this folder; the ledger must balance."""
    eventloom("merge", "run.h5", "--output", "merged.h5", cwd=folder, code=None)
    with h5py.File(folder / "run.h5") as file:
        assert file.attrs["closed"] == 1
    found = datasets(folder / "merged.h5")
    assert_balanced(ledger_of(found))
    return found


def counts_of(report, number):
    """The counts of a source in the report of a run, by name."""
    return next(row["counts"] for row in report["per_source"] if row["source"] == number)


def losses_of(report, number):
    """{cause: hits} of a source."""
    counts, prefix = counts_of(report, number), "hits_dropped_"
    return {name.removeprefix(prefix): hits for name, hits in counts.items() if name.startswith(prefix) and hits}


def assert_slices_as_replayed(recording, found, ended_early=False):
    """Complete slices equal the replay's; in the others, every wrong event is flagged. `ended_early`: the boards or
    the run ended while they were sending, each where it was, so that the last slice has only what they had sent."""
    expected, got = rows(recording.replay), rows(found)
    end = max(got, default=0) + (0 if ended_early else 1)
    got = {number: row for number, row in got.items() if number < end}
    incomplete = masked(found)
    for number in got.keys() - incomplete:
        assert number in expected or got[number]["hits_in"] == 0, f"slice {number} is not the replay's"
        wanted = expected.get(number, got[number])
        assert got[number] == wanted, f"slice {number} is complete, yet not the replay's: {got[number]}, not {wanted}"
    keys, events = set(event_keys(recording.replay)), event_keys(found, INCOMPLETE)
    wrong = [key for key in events if key not in keys and key[-1][0] < end * recording.slice_ticks]
    assert not wrong, f"{len(wrong)} events are not flagged, yet not the replay's, first {wrong[0]}"
    at_home = {key for key in event_keys(recording.replay) if _inside(recording, key) in got.keys() - incomplete}
    missing = at_home - set(events)
    assert not missing, f"{len(missing)} events of complete slices are not there, first {min(missing)}"


def _inside(recording, key):
    """The slice in which an event lies, away from its edges."""
    first, last = ((hit[0] + step) // recording.slice_ticks for hit, step in ((key[0], -NEAR), (key[-1], NEAR)))
    return first if first == last else None


class Board:
    """A front end controlled by the test: sends the epoch buffers of a recorded stream on request.

    `source`: the id in its datagrams, by default the stream's. `session`: a restarted stream has another one.
    """

    def __init__(self, file, port, source=None, session=1, fragment=1400):
        self.file, self.source, self.session = file, file.source if source is None else source, session
        self.fragment = fragment  # bytes of an epoch buffer in a datagram
        self.next = 0  # epoch buffer
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.connect((HOST, port))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def send(self, *datagrams):
        for datagram in datagrams:
            self._socket.send(datagram)

    def opening(self):
        """The datagram with the stream's header."""
        return self.framed(HEADER, bytes(8) + self.file.data[:self.file.buffers[0].offset])

    def header(self):
        self.send(self.opening())

    def data(self, number):
        """The datagrams of one epoch buffer."""
        buffer = self.file.buffers[number]
        stored = self.file.data[buffer.offset:buffer.offset + buffer.size]
        return [self.framed(DATA, stored[at:at + self.fragment], number, at, len(stored))
                for at in range(0, len(stored), self.fragment)]

    def to(self, epoch, silently=False):
        """Sends all remaining epoch buffers that begin before the epoch, then, unless `silently`, a mark."""
        while self.next < len(self.file.buffers) and self.file.buffers[self.next].first_epoch < epoch:
            self.send(*self.data(self.next))
            self.next += 1
        if not silently:
            self.send(self.mark(epoch))

    def skip_to(self, epoch):
        """Skips the epoch buffers that begin before the epoch."""
        while self.next < len(self.file.buffers) and self.file.buffers[self.next].first_epoch < epoch:
            self.next += 1

    def end(self):
        """Sends all remaining epoch buffers, then the end."""
        last = self.file.buffers[-1].end_epoch
        self.to(last, silently=True)
        end = self.mark(last, END)
        self.send(end)
        # A receiver may end with the first one.
        with contextlib.suppress(ConnectionRefusedError):
            self.send(end, end)

    def mark(self, epoch, kind=MARK, hits=None, sequence=None):
        hits = sum(b.n_hits for b in self.file.buffers[:self.next]) if hits is None else hits
        return self.framed(kind, struct.pack("<QQ", epoch, hits), self.next if sequence is None else sequence)

    def framed(self, kind, contents, sequence=0, offset=0, size=0, **wrong):
        """A datagram; keywords give fields of its header a wrong value."""
        values = {"version": 1, "kind": kind, "zero": 0, "source": self.source, "session": self.session, "offset": offset,
                  "sequence": sequence, "size": size, "zero_too": 0} | wrong
        return sealed(FIELDS.pack(*values.values()) + contents)
