"""Files written by the tests' own encoder, with every existing marker, read by the program."""

import numpy as np
import pytest

from epochs_file import epochs_file, hits_of_file, read_epochs_file
from program import Run
from reference import find_events, merged_file, weave
from results import assert_same, read_merged


def marker(kind, value):
    return kind << 28 | value


def group(time, *words):
    """A time marker and the words that belong to it."""
    if len(words) < 511:
        return [marker(1, len(words) << 19 | time), *words]
    return [marker(1, 511 << 19 | time), len(words), *words]


def channel(number, *payload):
    return [marker(2, number), *payload]


# System 0 has no payload, system 1 has two words, and system 2 states how many.
TABLE = bytes([0, 2, 255, *[0] * 61])
SYSTEM = 1 << 22
EVERYTHING = [
    marker(0, 7),
    *group(5, *channel(1), *channel(2)),
    *group(5, *channel(SYSTEM, 0xFFFFFFFF, 0x20000001), marker(5, 3 << 15 | 7 << 6 | 2)),
    marker(3, 99),  # an event tag between time markers
    marker(4, 17 << 13 | 3), 0xF0000000, 1, 2,  # a histogram of three bins
    *group(20, *channel(2 * SYSTEM, 3, 10, 11, 12), marker(3, 5), *channel(2 * SYSTEM, 0), *channel(3)),
    *group(25),  # no channel at this time
    marker(6, 2), 1, 2, 3, 0xFFFFFFFF, 5, 6,  # a schedule of two entries
    *group(30, *[word for n in range(200) for word in channel(SYSTEM + n, n, n + 1)]),  # 600 words: the long count
    marker(0, 9),
    *group(0, *channel(4)),
    *group(9_999, *channel(5)),
]
HITS, PAYLOAD = 2 + 1 + 3 + 200 + 2, 2 + 4 + 1 + 400


def run_and_compare(folder, buffers, **options):
    path = folder / "stream.epochs"
    path.write_bytes(epochs_file(buffers, **options))
    run = Run(folder / "run", [f"file:{path}"], "--define", "tag")
    hits = hits_of_file(read_epochs_file(path)) if options.get("index", True) else None
    found = read_merged(run.merged)
    if hits is not None:
        assert_same(found, merged_file(find_events(weave([hits]), "tag", 10_000)))
    return found


def test_every_marker(tmp_path):
    found = run_and_compare(tmp_path, [(7, 3, EVERYTHING, HITS, PAYLOAD)], payload_table=TABLE, text="made by hand")
    assert found["events/time"].tolist() == [70_005, 70_020, 70_030, 90_000, 99_999]
    assert found["events/n_hits"].tolist() == [3, 3, 200, 1, 1]
    assert found["hits/channel"][:6].tolist() == [1, 2, SYSTEM, 2 * SYSTEM, 2 * SYSTEM, 3]
    assert found["hits/first_payload"][:7].tolist() == [0, 0, 0, 2, 6, 7, 7]
    assert found["payload"][:7].tolist() == [0xFFFFFFFF, 0x20000001, 3, 10, 11, 12, 0]


@pytest.mark.parametrize("index", [True, False])
def test_times_that_fall_inside_an_epoch(tmp_path, index):
    """The marker format does not require ascending times within an epoch; equal ones keep their order."""
    words = [marker(0, 0), *group(50, *channel(1)), *group(7, *channel(2)), *group(50, *channel(3)), *group(0, *channel(4))]
    found = run_and_compare(tmp_path, [(0, 1, words, 4, 0)], index=index)
    assert found["hits/time"].tolist() == [0, 7, 50, 50]
    assert found["hits/channel"].tolist() == [4, 2, 1, 3]


def test_epoch_numbers_beyond_28_bits(tmp_path):
    """The marker holds the low 28 bits; the header of the epoch buffer states where they begin."""
    start = 5 * 2**28 - 1
    words = [word for epoch in range(start, start + 3) for word in (marker(0, epoch % 2**28), *group(1, *channel(epoch % 7)))]
    found = run_and_compare(tmp_path, [(start, 3, words, 3, 0), (start + 10, 1, [marker(0, 9), *group(2, *channel(1))], 1, 0)])
    assert np.array_equal(found["hits/time"] // 10_000, [start, start + 1, start + 2, start + 10])


def test_buffers_without_hits(tmp_path):
    found = run_and_compare(tmp_path, [(0, 4, [], 0, 0), (4, 2, [marker(0, 5)], 0, 0),
                                       (6, 1, [marker(0, 6), *group(3, *channel(1))], 1, 0)])
    assert found["hits/time"].tolist() == [60_003]
