"""run --reply: what boards receive about events during a run, compared with the output and the serial reference."""

import socket

import h5py
import pytest

from detector_reference import set_values, write_map
from epochs_file import hits_of_file, read_epochs_file
from inject import Injected
from program import Run, eventloom, generate, only_line
from reference import find_events, merged_file, weave
from event_replies import Board, assert_numbered, events_of
from results import assert_same, read_merged

EPOCH = 10_000
WANTED = "gap:60ns,2"
OPTIONS = ["--define", WANTED, "--epochs-per-slice", 7, "--overlap", EPOCH]
ROWS = [{"source": "0", "gain": "0.5", "zero": "-3"}]
FULL = 11  # EAGAIN


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    uris = generate(folder / "words", sources=2, rate=20_000, timing="poisson", hits=8, width="50ns", noise=100_000,
                    duration="8ms", payload=2, channels=32, seed=395)
    uris += generate(folder / "bare", sources=1, rate=20_000, timing="poisson", hits=8, width="50ns", noise=50_000,
                     duration="8ms", payload=0, channels=32, seed=395)
    names = [uri.removeprefix("file:") for uri in uris]
    streams = [hits_of_file(read_epochs_file(name)) for name in names]
    set_values(streams, names, ROWS)
    return uris, weave(streams), write_map(folder / "map.csv", ROWS)


def expected(hits, filters=(), definition=WANTED):
    return events_of(merged_file(find_events(hits, definition, EPOCH, filters), True))


def reported(replies):
    return sorted(reply.key() for reply in replies)


@pytest.mark.parametrize("ranks, filter_ranks, filters, conditions", [
    (None, 0, [], []), (2, 0, ["n_hits>=3"], []), (3, 0, [], ["n_hits>=4 && sources>=2"]),
    (3, 2, ["sources>=2"], ["n_hits>=5", "duration<40ns"])])
def test_boards_receive_the_events_that_the_output_has(tmp_path, recording, ranks, filter_ranks, filters, conditions):
    uris, hits, _ = recording
    options = [*OPTIONS, "--filters", filter_ranks, *(w for text in filters for w in ("--filter", text))]
    chosen = [w for text in conditions for w in ("--reply-if", text)]
    plain = Run(tmp_path / "plain", uris, *options, np=ranks)
    with Board() as one, Board() as other:
        run = Run(tmp_path / "run", uris, *options, "--reply", f"{one.uri},{other.uri}", *chosen, np=ranks)
    assert_same(read_merged(run.merged), read_merged(plain.merged))
    assert sorted(events_of(read_merged(run.merged))) == sorted(expected(hits, filters))
    wanted = sorted(expected(hits, [*filters, *conditions]))
    assert 20 < len(wanted) and (not conditions or len(wanted) < len(expected(hits, filters)) - 20)
    for board in (one, other):
        assert reported(board.replies) == wanted
        assert_numbered(board.replies)
        assert all(reply.tick_ps == 1000 and reply.definition == 0 and not reply.cut for reply in board.replies)
        assert all(reply.duration == reply.times[-1] - reply.times[0] for reply in board.replies)
        assert all(reply.slice == reply.time // (7 * EPOCH) for reply in board.replies)
    n = len(wanted)
    assert run.report()["reply"] == {
        "reply_events": n, "reply_datagrams": 2 * n, "reply_cut": 0, "reply_dropped": 0, "reply_refused": 0,
        "reply_bytes": sum(len(data) for board in (one, other) for data in board.datagrams)}
    with h5py.File(run.output) as file:
        assert "reply" not in str(sorted(file["ledger"]))


def test_replies_hold_values_of_the_map(tmp_path, recording):
    uris, hits, path = recording
    with Board() as board:
        run = Run(tmp_path, uris, *OPTIONS, "--detector", path, "--reply", board.uri)
    with h5py.File(run.merged) as file:
        values = file["hits/value"][:].tolist()
    assert reported(board.replies) == sorted(expected(hits))
    found = [value for reply in sorted(board.replies, key=lambda reply: reply.time) for value in reply.values]
    assert list(map(str, found)) == list(map(str, values))


def test_each_definition_has_its_replies(tmp_path, recording):
    uris, hits, _ = recording
    definitions = [WANTED, "gap:20,3"]
    with Board() as board:
        eventloom("run", *uris, "--define", "a=" + definitions[0], "--define", "b=" + definitions[1], "--epochs-per-slice", 7,
                  "--overlap", EPOCH, "--reply", board.uri, "--output", tmp_path / "run.h5", np=2)
    assert_numbered(board.replies)
    for number, definition in enumerate(definitions):
        replies = (r for r in board.replies if r.definition == number)
        assert reported(replies) == sorted(expected(hits, definition=definition))


def test_of_large_events_the_first_hits_are_sent(tmp_path, recording):
    uris, hits, _ = recording
    with Board() as board:
        run = Run(tmp_path, uris, *OPTIONS, "--reply", board.uri, "--reply-size", 200)
    assert max(map(len, board.datagrams)) <= 200
    whole = dict(expected(hits))
    for reply in board.replies:
        of_event = whole.pop(reply.time)
        assert reply.n_hits == len(of_event)
        assert reply.key() == (reply.time, of_event[:len(reply.times)])
        more = of_event[:len(reply.times) + 1]
        size = 40 + 32 + 24 + sum(18 + 4 * len(words) for *_, words in more)
        assert not reply.cut or -(-size // 8) * 8 > 200, "one more hit would have fitted"
    assert not whole
    cut = sum(reply.cut for reply in board.replies)
    assert 0 < cut < len(board.replies) and run.report()["reply"]["reply_cut"] == cut


@pytest.mark.parametrize("times", [1, 0])
def test_a_full_socket_drops_replies_but_no_events(tmp_path, recording, times):
    uris, hits, _ = recording
    with Board() as board:
        output = tmp_path / "run.h5"
        run = Injected(["run", *uris, *OPTIONS, "--reply", board.uri, "--output", output, "--merge"], tmp_path, call="sendmmsg",
                       at=2, times=times, error=FULL)
    assert run.happened and run.code == 0, run.done.stderr
    wanted = expected(hits)
    assert events_of(read_merged(output)) == wanted
    line = next(line for line in run.done.stdout.splitlines() if line.startswith("reply: "))
    dropped = len(wanted) - len(board.replies)
    assert 0 < dropped and f"{len(wanted)} events, 0 of them cut, in {len(board.replies)} datagrams" in line
    assert f"; {dropped} dropped, 0 refused" in line
    assert set(reported(board.replies)) < set(wanted)
    numbers = [reply.number for reply in board.replies]
    assert numbers == sorted(numbers) and (numbers[-1] >= len(numbers) if times else numbers == list(range(len(numbers))))


def test_an_address_without_a_listener_is_reported_once(tmp_path, recording):
    uris, hits, _ = recording
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gone:
        gone.bind(("127.0.0.1", 0))
        nobody = f"udp://127.0.0.1:{gone.getsockname()[1]}"
    with Board() as board:
        run = Run(tmp_path, uris, *OPTIONS, "--reply", f"{nobody},{board.uri}")
    assert events_of(read_merged(run.merged)) == expected(hits)
    assert reported(board.replies) == sorted(expected(hits))
    assert run.done.stderr.count("nobody listens; datagrams to it are lost") == 1 and nobody in run.done.stderr
    report = run.report()
    assert report["reply"]["reply_refused"] > 0 == report["reply"]["reply_dropped"] == report["exit_code"]


def times_in_parts(folder):
    times = set()
    for part in folder.glob("run.*.h5"):
        with h5py.File(part) as file:
            times |= set(file["events/time"][:].tolist())
    return times


def test_a_resumed_run_replies_for_the_slices_that_it_builds(tmp_path, recording):
    uris, hits, _ = recording
    command = ["run", *uris, *OPTIONS, "--segment-size", 1, "--output", tmp_path / "run.h5"]
    with Board() as board:
        first = Injected([*command, "--reply", board.uri], tmp_path, call="sendmmsg", at=8, do="kill")
    assert first.happened
    safe = times_in_parts(tmp_path)
    with Board() as again:
        eventloom(*command, "--reply", again.uri, "--resume", "--merge")
    assert events_of(read_merged(tmp_path / "run.h5")) == expected(hits)
    assert safe and {reply.time for reply in again.replies} == {time for time, _ in expected(hits)} - safe
    assert safe <= {reply.time for reply in board.replies}
    assert set(reported(board.replies)) | set(reported(again.replies)) == set(expected(hits))
    assert {r.session for r in board.replies} != {r.session for r in again.replies}
    assert_numbered(again.replies)


@pytest.mark.parametrize("options, words", [
    (["--reply", "tcp://127.0.0.1:7000"], ["--reply", "tcp://127.0.0.1:7000", "udp://HOST:PORT"]),
    (["--reply", "udp://127.0.0.1"], ["--reply", "HOST:PORT"]),
    (["--reply", "udp://127.0.0.1:0"], ["--reply", "has no port"]),
    (["--reply", "udp://no.such.host.invalid:7000"], ["--reply", "no.such.host.invalid", "unknown"]),
    (["--reply", "udp://239.1.2.3:7000"], ["--reply", "multicast", "each board"]),
    (["--reply", "udp://[ff02::1]:7000"], ["--reply", "multicast", "each board"]),
    (["--reply", "udp://255.255.255.255:7000"], ["--reply", "broadcast", "each board"]),
    (["--reply", "udp://127.0.0.1:7000,udp://127.0.0.1:7000"], ["--reply", "twice"]),
    (["--reply-if", "n_hits>=2"], ["--reply-if needs --reply"]),
    (["--reply", "udp://127.0.0.1:7000", "--reply-size", "64"], ["--reply-size", "128"])])
def test_bad_usage_is_refused_in_a_line(tmp_path, recording, options, words):
    uris, _, _ = recording
    only_line(eventloom("run", *uris, *OPTIONS, *options, "--output", tmp_path / "run.h5", code=2), *words)
    assert not list(tmp_path.iterdir())


def test_a_condition_that_is_wrong_is_shown(tmp_path, recording):
    uris, _, _ = recording
    done = eventloom("run", *uris, *OPTIONS, "--reply", "udp://127.0.0.1:7000", "--reply-if", "n_hit>=2", "--output",
                     tmp_path / "run.h5", code=2)
    assert "--reply-if 'n_hit>=2'" in done.stderr and not list(tmp_path.iterdir())
