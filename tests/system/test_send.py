"""Streams over UDP: data of `eventloom send` and `eventloom generate --live`, received by the tests' own receiver."""

import itertools
import json
import signal
import time

import numpy as np
import pytest

from datagrams import DATA, END, HEADER, MARK, Datagram, Receiver, decode, encode
from epochs_file import epochs_file, hits_of_file, read_epochs_file
from interrupted import Started, until
from program import eventloom, generate, only_line
from recordings import write_csv

ENDS = 3


def recording(folder, **options):
    """Paths of generated streams."""
    settings = {"sources": 3, "rate": 20_000, "noise": 50_000, "duration": "20ms", "payload": 1, "seed": 5} | options
    return [uri.removeprefix("file:") for uri in generate(folder, **settings)]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return recording(tmp_path_factory.mktemp("recording"))


def taken(receiver, sources):
    """{source id: Received} after the ends of all."""
    until(lambda: receiver.count(END) >= ENDS * sources, f"{sources} streams ended")
    return receiver.streams()


def send(words, sources, code=0):
    """The data that one receiver gets from `eventloom send` or another command, and the command's output."""
    with Receiver() as receiver:
        done = eventloom(*words, "--to", receiver.uri, code=code)
        return taken(receiver, sources), done


def columns(hits, shift=0):
    """All columns of the hits except their source."""
    return [(hits.time + np.uint64(shift)).tolist(), hits.channel.tolist(), hits.payload_words.tolist(), hits.payload.tolist()]


def assert_stream(stream, source):
    """Numbers, hits before, marks and ends as required of any stream without losses."""
    first = stream.datagrams[0]
    assert first.kind == HEADER and {d.session for d in stream.datagrams} == {first.session}
    assert {h.source for h in stream.headers} == {b.source for b in stream.buffers} == {source}
    assert [b.sequence for b in stream.buffers] == list(range(len(stream.buffers)))
    before = list(itertools.accumulate((b.n_hits for b in stream.buffers), initial=0))
    assert [b.hits_before for b in stream.buffers] == before[:-1]
    assert all(a.end_epoch <= b.first_epoch for a, b in itertools.pairwise(stream.buffers))
    complete = 0
    for d in stream.datagrams:
        if d.kind in (MARK, END):
            assert d.mark[0] >= complete and d.mark[1] == before[d.sequence]
            complete = d.mark[0]
        if d.kind == DATA:
            assert stream.buffers[d.sequence].first_epoch >= complete
    assert [d.kind for d in stream.datagrams[-ENDS:]] == [END] * ENDS == [d.kind for d in stream.ends]
    assert {(d.sequence, d.mark[1]) for d in stream.ends} == {(len(stream.buffers), before[-1])}
    assert stream.ends[-1].mark[0] >= max((b.end_epoch for b in stream.buffers), default=0)


def test_framing_of_the_tests():
    datagram = Datagram(DATA, 7, 0xFFFFFFFF, 8, 2**40, 24, b"fragment")
    raw = encode(datagram)
    assert decode(raw) == datagram and raw[:4] == b"ELVD" and len(raw) == 48
    for wrong in (raw[:-1], raw[:20] + b"x" + raw[21:], b"X" + raw[1:]):
        with pytest.raises(ValueError):
            decode(wrong)


@pytest.mark.parametrize("speed", [0, 1, 4])
def test_all_that_is_recorded(paths, speed):
    began = time.time_ns()
    streams, done = send(["send", *paths, "--speed", speed], 3)
    assert sorted(streams) == [0, 1, 2] and len({s.datagrams[0].session for s in streams.values()}) == 3
    for source, path in enumerate(paths):
        file, stream = read_epochs_file(path), streams[source]
        assert_stream(stream, source)
        assert columns(stream.hits()) == columns(hits_of_file(file))
        assert len(stream.buffers) == len(file.buffers) and all(stream.intact)
        header = stream.headers[0]
        assert (header.tick_ps, header.epoch_ticks, header.text) == (file.tick_ps, file.epoch_ticks, file.text)
        assert header.payload_table == file.payload_table
        if speed == 1:
            assert began <= header.started_ns + file.buffers[0].first_epoch * 10_000 <= time.time_ns()
        else:
            assert header.started_ns == 0
        line = done.stdout.splitlines()[source]
        sent = f"{len(stream.datagrams)} datagrams, {len(stream.buffers)} buffers, {sum(b.n_hits for b in stream.buffers)} hits, "
        assert path in line and sent in line, done.stdout


def test_any_source(tmp_path):
    times, channels = [5, 70_000, 70_000, 2_000_000], [1, 2, 3, 4]
    write_csv(tmp_path / "hits.csv", times, channels)
    streams, _ = send(["send", f"csv:{tmp_path}/hits.csv?time=1&channel=2&unit=tick", "--speed", 0], 1)
    assert_stream(streams[0], 0)
    assert columns(streams[0].hits())[:2] == [times, channels]


@pytest.mark.parametrize("size", [576, 1400, 65507])
def test_fragments(tmp_path, size):
    """Epoch buffers larger than a datagram."""
    path, = recording(tmp_path, sources=1, payload=200, duration="2ms")
    with Receiver() as receiver:
        eventloom("send", path, "--to", receiver.uri, "--speed", 0, "--datagram", size)
        stream = taken(receiver, 1)[0]
        sizes = receiver.sizes()
    file = read_epochs_file(path)
    assert columns(stream.hits()) == columns(hits_of_file(file))
    assert max(sizes) <= size
    needed = sum(-(-b.size // (size - 40)) for b in file.buffers)
    assert sum(1 for d in stream.datagrams if d.kind == DATA) == needed


def test_long_text(tmp_path):
    """The text of a stream is cut if it does not fit a datagram."""
    text = " ".join(str(number) for number in range(1000))
    (tmp_path / "a.epochs").write_bytes(epochs_file([(4, 1, [4, 1 << 28 | 1 << 19 | 7, 2 << 28 | 5], 1, 0)], text=text))
    with Receiver() as receiver:
        eventloom("send", tmp_path / "a.epochs", "--to", receiver.uri, "--speed", 0, "--datagram", 576)
        stream = taken(receiver, 1)[0]
        assert max(receiver.sizes()) <= 576
    assert_stream(stream, 0)
    reported = stream.headers[0].text
    assert text.startswith(reported) and 400 < len(reported) < 576
    assert columns(stream.hits())[:2] == [[40_007], [5]]


def test_loop(paths):
    """Times continue: each pass is the recording, shifted by the same number of epochs for all sources."""
    passes = 3
    streams, _ = send(["send", *paths, "--speed", 0, "--loop", passes], 3)
    files = [read_epochs_file(path) for path in paths]
    first, end = min(f.buffers[0].first_epoch for f in files), max(f.buffers[-1].end_epoch for f in files)
    shifts = set()
    for source, file in enumerate(files):
        stream = streams[source]
        assert_stream(stream, source)
        assert "looped" in stream.headers[0].text
        n = len(file.buffers)
        assert len(stream.buffers) == passes * n and all(stream.intact)
        shifts.add(stream.buffers[n].first_epoch - stream.buffers[0].first_epoch)
        period = stream.buffers[n].first_epoch - stream.buffers[0].first_epoch
        hits, once = stream.hits(), hits_of_file(file)
        for k in range(passes):
            part = hits.take(np.arange(k * len(once), (k + 1) * len(once)))
            assert columns(part) == columns(once, k * period * file.epoch_ticks)
    assert len(shifts) == 1 and shifts.pop() > end - first


def test_numbers_and_addresses(paths):
    with Receiver() as one, Receiver() as two:
        eventloom("send", *paths[:2], "--to", one.uri, "--to", two.uri, "--ids", "9,3", "--session", 77, "--speed", 0)
        streams = taken(one, 1) | taken(two, 1)
        assert (one.count(DATA, 3), two.count(DATA, 9)) == (0, 0)
    for source, path in ((9, paths[0]), (3, paths[1])):
        assert_stream(streams[source], source)
        assert {d.session for d in streams[source].datagrams} == {77}
        assert columns(streams[source].hits()) == columns(hits_of_file(read_epochs_file(path)))


def test_the_header_comes_again(paths):
    """The header is repeated for receivers that come late."""
    streams, _ = send(["send", paths[0], "--speed", 0.009], 1)
    assert len(streams[0].headers) >= 3 and all(h == streams[0].headers[0] for h in streams[0].headers)
    assert_stream(streams[0], 0)


def test_marks_of_a_quiet_source(tmp_path):
    """While one source has no data, it sends marks repeatedly, up to the epochs that are over."""
    write_csv(tmp_path / "quiet.csv", [5, 1_000_000_000], [1, 2])  # 1 s: beside other tests marks come late
    write_csv(tmp_path / "busy.csv", range(0, 1_000_000_000, 250_000), itertools.repeat(3))
    sources = [f"csv:{tmp_path}/{name}.csv?time=1&channel=2&unit=tick" for name in ("quiet", "busy")]
    streams, _ = send(["send", *sources, "--flush-after", "2ms"], 2)
    for source in (0, 1):
        assert_stream(streams[source], source)
    between = [d for d in streams[0].marks if d.sequence == 1]
    epochs = [d.mark[0] for d in between]
    assert len(between) > 10 and epochs == sorted(set(epochs)) and epochs[-1] <= 100_000
    assert len(streams[1].marks) < len(between)


def test_marks_while_a_buffer_is_not_due(tmp_path):
    """Marks do not promise what the next epoch buffer takes back."""
    path, = recording(tmp_path, sources=1, rate=1_000, noise=1_000, duration="100ms", **{"epochs-per-buffer": 1000})
    streams, _ = send(["send", path, "--flush-after", "2ms"], 1)
    assert_stream(streams[0], 0)
    assert max(b.n_epochs for b in streams[0].buffers) > 500 and streams[0].marks
    streams, _ = send(["generate", "--live", "--sources", 1, "--rate", 20, "--noise", 20, "--hits", 1, "--seed", 4, "--duration",
                       "600ms", "--flush-after", "20ms", "--epochs-per-buffer", 100_000], 1)
    assert_stream(streams[0], 0)
    assert len(streams[0].buffers) > 5 and streams[0].marks


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ended_by_a_signal(paths, tmp_path, number):
    with Receiver() as receiver:
        with Started(tmp_path, "send", *paths, "--to", receiver.uri, "--speed", 0.001) as sender:
            until(lambda: receiver.count(DATA) > 5, "some data", so_far=sender.text)
            sender.process.send_signal(number)
            assert sender.process.wait(30) == 0, sender.text()
        streams = taken(receiver, 3)
    for source, path in enumerate(paths):
        stream, whole = streams[source], hits_of_file(read_epochs_file(path))
        assert_stream(stream, source)
        n = sum(b.n_hits for b in stream.buffers)
        assert n < len(whole) and columns(stream.hits()) == columns(whole.take(np.arange(n)))


def test_damage(paths, tmp_path):
    """A buffer with damaged words is sent unchanged, one with a damaged header is omitted; both are reported."""
    file = read_epochs_file(paths[0])
    data = bytearray(file.data)
    words, header = file.buffers[3], file.buffers[6]
    data[words.offset + 70] ^= 1
    data[header.offset + 20] ^= 1
    path = tmp_path / "damaged.epochs"
    path.write_bytes(data)
    streams, done = send(["send", path, "--speed", 0, "--loop", 2], 1, code=3)
    stream, n = streams[0], len(file.buffers)
    assert_stream(stream, 0)
    assert [k for k, intact in enumerate(stream.intact) if not intact] == [3, 3 + n - 1]
    expected = hits_of_file(file, skip=[3, 6])
    period = stream.buffers[n - 1].first_epoch - stream.buffers[0].first_epoch
    hits = stream.hits()
    for k in range(2):
        part = hits.take(np.arange(k * len(expected), (k + 1) * len(expected)))
        assert columns(part) == columns(expected, k * period * file.epoch_ticks)
    assert "damaged.epochs" in done.stderr


def test_bandwidth(paths):
    """Bytes of all sources together."""
    limit = 1 << 20
    _, done = send(["send", *paths, "--speed", 0, "--bandwidth", "1MiB"], 3)
    words = [line.split() for line in done.stdout.splitlines()]
    total = sum(int(line[line.index("bytes") - 1]) for line in words)
    longest = max(float(line[line.index("in") + 1]) for line in words)
    assert total / longest < 1.5 * limit, "flat out it would be a hundred times as much"


def test_no_listener(paths):
    with Receiver() as gone:
        uri = gone.uri
    done = eventloom("send", *paths, "--to", uri, "--speed", 0)
    assert done.stderr.count("nobody listens") == 3, "once for each source"
    assert all("times nobody listened" in line for line in done.stdout.splitlines())


GENERATED = ["--sources", 3, "--rate", 20_000, "--noise", 50_000, "--payload", 1, "--width", "300us"]


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("timing", ["poisson", "burst"])
@pytest.mark.parametrize("flush", ["1ms", "30us"])
def test_generated_live(tmp_path, timing, flush):
    """The hits are those of the files, which equal those of a generator that does not send."""
    options = [*GENERATED, "--timing", timing, "--duration", "100ms", "--epochs-per-buffer", 1000]
    began = time.time_ns()
    streams, done = send(["generate", "--live", *options, "--flush-after", flush, "--output", tmp_path / "live"], 3)
    eventloom("generate", *options, "--output", tmp_path / "plain")
    assert files_of(tmp_path / "live") == files_of(tmp_path / "plain")
    age = {"1ms": 1_000_000, "30us": 30_000}[flush]
    for source, stream in streams.items():
        file = read_epochs_file(tmp_path / "live" / f"source_{source:03}.epochs")
        assert_stream(stream, source)
        assert columns(stream.hits()) == columns(hits_of_file(file))
        assert stream.ends[0].mark[0] == 10_000
        assert began <= stream.headers[0].started_ns <= time.time_ns()
        # Closed at the end of the epoch in which its oldest hit reaches that age.
        assert max(b.n_epochs for b in stream.buffers) <= age // 10_000 + 1
    assert len(done.stdout.splitlines()) == 5


def test_generated_until_stopped(tmp_path):
    """The data sent are the data written, including the truth."""
    options = ["--live", *GENERATED, "--duration", 0, "--output", tmp_path / "live"]
    with Receiver() as receiver:
        with Started(tmp_path, "generate", *options, "--to", receiver.uri) as sender:
            until(lambda: receiver.count(DATA) > 50, "some data", so_far=sender.text)
            sender.process.send_signal(signal.SIGINT)
            assert sender.process.wait(30) == 0, sender.text()
        streams = taken(receiver, 3)
    for source, stream in streams.items():
        assert_stream(stream, source)
        file = read_epochs_file(tmp_path / "live" / f"source_{source:03}.epochs")
        assert columns(stream.hits()) == columns(hits_of_file(file))
    truth = json.loads((tmp_path / "live" / "truth.json").read_text())
    assert truth["hits_by_source"] == [sum(b.n_hits for b in s.buffers) for s in streams.values()]
    rows = (tmp_path / "live" / "truth.csv").read_text().splitlines()[1:]
    assert len(rows) == truth["events"] and sum(int(r.split(",")[3]) for r in rows) == truth["hits_in_events"]
    assert max(int(r.split(",")[2]) for r in rows) < truth["duration_ticks"]


def test_generated_without_files(tmp_path):
    with Receiver() as receiver:
        eventloom("generate", "--live", *GENERATED, "--duration", "5ms", "--to", receiver.uri, cwd=tmp_path)
        streams = taken(receiver, 3)
    assert sum(len(stream.hits()) for stream in streams.values()) > 0
    assert list(tmp_path.iterdir()) == []


BAD_USAGE = [
    (["send"], "no source"),
    (["send", "A"], "--to"),
    (["send", "A", "--to", "here"], "here"),
    (["send", "A", "--to", "udp://127.0.0.1"], "udp://127.0.0.1"),
    (["send", "A", "--to", "udp://127.0.0.1:0"], "no port"),
    (["send", "A", "--to", "mbs://127.0.0.1:6000"], "mbs://127.0.0.1:6000"),
    (["send", "A", "--to", "udp://no.such.host.invalid:6000"], "no.such.host.invalid"),
    (["send", "A", "--to", "U", "--to", "U"], "2 addresses for 1 sources"),
    (["send", "A", "B", "--to", "U", "--ids", "1"], "--ids"),
    (["send", "A", "B", "--to", "U", "--ids", "1,1"], "--ids"),
    (["send", "A", "--to", "U", "--ids", "one"], "one"),
    (["send", "A", "--to", "U", "--speed", "-1"], "--speed"),
    (["send", "A", "--to", "U", "--bandwidth", "fast"], "fast"),
    (["send", "A", "--to", "U", "--loop", "0"], "loop"),
    (["send", "A", "--to", "U", "--loop", "1e12"], "passes"),
    (["send", "A", "--to", "U", "--datagram", "100"], "datagram"),
    (["send", "A", "--to", "U", "--session", "4294967296"], "session"),
    (["send", "A", "--to", "U", "--flush-after", "1"], "flush-after"),
    (["send", "A", "--to", "U", "--flush-after", "0ms"], "flush-after"),
    (["send", "none.epochs", "--to", "U"], "none.epochs"),
    (["send", "gen:poisson?rate=1e5&duration=1ms", "--to", "U", "--loop", "2"], "convert it first"),
    (["send", "udp://127.0.0.1:17000", "--to", "U"], "is live"),
    (["generate", "--live"], "--to"),
    (["generate", "--live", "--to", "here"], "here"),
    (["generate", "--output", "streams", "--to", "U"], "--live"),
]


@pytest.mark.parametrize("words, reported", BAD_USAGE, ids=[" ".join(words) for words, _ in BAD_USAGE])
def test_bad_usage(paths, tmp_path, words, reported):
    with Receiver() as receiver:
        names = {"A": paths[0], "B": paths[1], "U": receiver.uri}
        done = eventloom(*[names.get(word, word) for word in words], code=2, timeout=20, cwd=tmp_path)
    only_line(done, reported)
    assert list(tmp_path.iterdir()) == []
