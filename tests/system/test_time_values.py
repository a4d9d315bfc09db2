"""What a cell or a field of a record holds, by the same rules in tables and packed files: missing values, whole numbers, ids, conditions.

The references are arrays of numpy and lists that the test itself has written."""

import json
import math

import h5py
import midas
import numpy as np
import pytest

from live import counts_of
from program import eventloom
from results import dropped, read_ledger
from test_inputs import refused, rows_of, run_all, table


def words_of(value):
    """The two payload words of a double."""
    return tuple(np.array([value], "<f8").view("<u4").tolist())


NAN = words_of(math.nan)


def lost(run):
    return {cause: n for cause, n in dropped(read_ledger(run.output)).items() if n}


# ---- missing values

@pytest.mark.parametrize("missing", ["", "nan", "NaN", "-nan", '""', " "])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("numbers, key", [((1.5, -2.25), ""), ((1.5, -2.25), "?payload=energy:f64"), ((3, 4000000000), "")])
def test_a_missing_payload_is_nan(tmp_path, missing, separator, numbers, key):
    """Also of whole numbers, which then become doubles."""
    rows = [(0, 0, numbers[0]), (1000, 1, missing), (2000, 2, numbers[1]), (3000, 3, missing)]
    path = table(tmp_path, "\n".join(separator.join(map(str, row)) for row in [("t_ns", "ch", "energy"), *rows]) + "\n")
    run = run_all(tmp_path / "run", f"{path}{key}")
    assert rows_of(run) == [(t, 0, c, NAN if e is missing else words_of(e)) for t, c, e in rows]


def test_a_short_row_lacks_its_last_values(tmp_path):
    path = table(tmp_path, "t_ns,ch,energy,flags\n1,1,7,8\n2,2\n3,3,9\n4,4,,5\n")
    run = run_all(tmp_path / "run", f"{path}?payload=energy,flags:f32")
    single = lambda value: (int(np.float32(value).view("u4")),)
    assert rows_of(run) == [(1, 0, 1, words_of(7) + single(8)), (2, 0, 2, NAN + single(math.nan)),
                            (3, 0, 3, words_of(9) + single(math.nan)), (4, 0, 4, NAN + single(5))]
    bare = table(tmp_path, "1,1,7\n2,2\n3,3,9\n", "bare.csv")
    run = run_all(tmp_path / "bare", f"{bare}?time=1&channel=2&payload=3&unit=ns")
    assert rows_of(run) == [(1, 0, 1, words_of(7)), (2, 0, 2, NAN), (3, 0, 3, words_of(9))]


@pytest.mark.parametrize("kind", ["u32", "i32"])
def test_a_whole_kind_has_no_nan(tmp_path, kind):
    path = table(tmp_path, "t_ns,ch,energy\n1,1,7\n2,2,\n")
    refused(f"{path}?payload=energy:{kind}", "t.csv:3", "a value is missing", "payload=energy:f64")
    run = run_all(tmp_path / "run", f"{path}?payload=energy:{kind}&skip-bad=yes", code=3)
    assert rows_of(run) == [(1, 0, 1, (7,))] and lost(run) == {"corrupt": 1}


def test_an_empty_line_in_a_table_of_one_column(tmp_path):
    """It is a row without a time; empty lines before the first row and behind the last one are not."""
    for n, (header, keys) in enumerate((("t_ns\n", ""), ("# t\n", "time=1&unit=ns&"))):
        path = table(tmp_path, f"{header}\n1\n2\n\n\n5\n\n\n", f"t{n}.csv")
        uri = f"{path}?{keys}fixed-channel=7"
        refused(uri, f"t{n}.csv:7", "line before it is empty", "the time is missing", "skip-bad=yes")
        run = run_all(tmp_path / str(n), f"{uri}&skip-bad=yes", code=3)
        assert rows_of(run) == [(t, 0, 7, ()) for t in (1, 2, 5)] and lost(run) == {"corrupt": 2}
    path = table(tmp_path, "t_ns,ch\n1,3\n\n2,4\n")
    assert rows_of(run_all(tmp_path / "two", path)) == [(1, 0, 3, ()), (2, 0, 4, ())]


def test_a_line_of_tabs_is_a_row(tmp_path):
    """Of missing values, as a line of commas is."""
    for separator in "\t,;":
        path = table(tmp_path, f"t_ns,ch,energy\n1,1,7\n,,\n2,2,8\n".replace(",", separator))
        refused(path, "t.csv:3", "missing", "skip-bad=yes")
        run = run_all(tmp_path / f"run{ord(separator)}", f"{path}?skip-bad=yes", code=3)
        assert [row[0] for row in rows_of(run)] == [1, 2] and lost(run) == {"corrupt": 1}


def test_a_late_missing_value(tmp_path):
    """Behind the rows that determine the kind."""
    path = table(tmp_path, "t_ns,ch,energy\n" + "".join(f"{n},1,5\n" for n in range(20_000)) + "20000,1,\n")
    refused(path, "t.csv:20002", "a value is missing", "payload=energy:f64")
    assert rows_of(run_all(tmp_path / "run", f"{path}?payload=energy:f64"))[-1] == (20_000, 0, 1, NAN)


@pytest.mark.parametrize("missing", ["", "nan", "NaN"])
@pytest.mark.parametrize("column", ["time", "channel", "coarse"])
def test_a_hit_without_time_or_channel_is_lost(tmp_path, missing, column):
    rows = [(n, 1, 5 * n % 7, 10 * n) for n in range(100)]
    at = {"time": 0, "coarse": 1, "channel": 2}[column]
    lines = [",".join(missing if n % 10 == 3 and i == at else str(cell) for i, cell in enumerate(row)) for n, row in enumerate(rows)]
    path = table(tmp_path, "t,s,ch,energy\n" + "\n".join(lines) + "\n")
    keys = "?time=t&unit=ns&coarse=s&coarse-unit=us&channel=ch&payload=energy"
    refused(f"{path}{keys}", "t.csv:5", "missing", "with skip-bad=yes")
    run = run_all(tmp_path / "run", f"{path}{keys}&skip-bad=yes", code=3)
    assert rows_of(run) == [(1000 + t, 0, c, (e,)) for n, (t, _, c, e) in enumerate(rows) if n % 10 != 3]
    assert lost(run) == {"corrupt": 10} and counts_of(run.report(), 0)["bad_records"] == 10


def test_a_missing_first_channel_is_no_word(tmp_path):
    path = table(tmp_path, "t_ns,ch\n1,nan\n2,5\n3,6\n")
    assert rows_of(run_all(tmp_path / "run", f"{path}?skip-bad=yes", code=3)) == [(2, 0, 5, ()), (3, 0, 6, ())]
    path = table(tmp_path, "t_ns,ch\n1,\n2,veto\n3,nan\n4,muon\n", "words.csv")
    run = run_all(tmp_path / "words", f"{path}?skip-bad=yes", code=3)
    assert rows_of(run) == [(2, 0, 1, ()), (4, 0, 0, ())] and lost(run) == {"corrupt": 2}


def janus_list(events, header):
    """As JANUS writes lists of events: time and trigger number stand only on the first line of each."""
    lines = ["       Tstamp_us        TrgID   Brd  Ch       LG       HG"] if header else []
    for n in range(events):
        for j in range(4):
            begin = f"{(15500 + 40125 * n) / 1000:16.3f} {n:12d} " if j == 0 else " " * 30
            lines.append(f"{begin}   00  {(7 * n + 11 * j) % 64:02d} {50 + j:8d} {70 + j:8d} ")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("payload", ["", "&payload={}"])
def test_a_value_missing_between_blanks(tmp_path, header, payload):
    """It moves the values after it: the line is never read."""
    path = table(tmp_path, janus_list(200, header), "list.txt")
    time, channel, energy = ("Tstamp_us", "Ch", "HG") if header else (1, 4, 6)
    keys = f"?time={time}&channel={channel}&unit=us" + payload.format(energy)
    refused(f"csv:{path}{keys}", f"list.txt:{3 if header else 2}", "the line has 4 columns", "6", "skip-bad=yes")
    run = run_all(tmp_path / "run", f"csv:{path}{keys}&skip-bad=yes", code=3)
    assert rows_of(run) == [(15500 + 40125 * n, 0, 7 * n % 64, (70,) if payload else ()) for n in range(200)]
    assert lost(run) == {"corrupt": 600}


def test_a_unit_in_the_header_is_no_column(tmp_path):
    path = table(tmp_path, "t [us]  ch  energy (keV)\n1  2  3\n4  5  6\n", "units.txt")
    assert rows_of(run_all(tmp_path / "run", f"csv:{path}?payload=energy%20(keV)".replace("%20", " "))) == [
        (1000, 0, 2, (3,)), (4000, 0, 5, (6,))]


def test_missing_numbers_of_records(tmp_path):
    """NaN in a payload is kept; a record whose time is NaN is lost."""
    records = np.zeros(50, dtype=[("t", "<f8"), ("c", "u1"), ("e", "<f4")])
    records["t"], records["c"], records["e"] = np.arange(50) * 10, np.arange(50) % 5, np.arange(50) / 8
    records["t"][7], records["e"][9] = np.nan, np.nan
    records.tofile(tmp_path / "t.bin")
    run = run_all(tmp_path / "run", f"packed:{tmp_path}/t.bin?record=13&time=f64le@0&channel=u8@8&payload=f32le@9", code=3)
    words = np.ascontiguousarray(records["e"]).view("<u4").tolist()
    assert rows_of(run) == [(10 * n, 0, n % 5, (words[n],)) for n in range(50) if n != 7]
    assert lost(run) == {"corrupt": 1}


# ---- numbers

def test_channels_as_numpy_writes_them(tmp_path):
    data = np.column_stack([np.arange(100) * 10.0, np.arange(100) % 7, np.arange(100) * 0.5])
    for n, form in enumerate(("%.18e", "%.3e", "%.1f")):
        path = tmp_path / f"t{n}.txt"
        np.savetxt(path, data, fmt=form, header="t_ns ch energy")
        keys = "?payload=energy:f64" + ("&round=nearest" if form == "%.3e" else "")
        run = run_all(tmp_path / f"run{n}", f"csv:{path}{keys}")
        assert rows_of(run) == [(int(t), 0, int(c), words_of(float(form % e))) for t, c, e in data]
    refused(table(tmp_path, "t_ns,ch\n1,1.5\n"), "t.csv:2", "'1.5' is not a channel")
    refused(table(tmp_path, "t_ns,ch\n1,3e8\n"), "t.csv:2", "'3e8' is not a channel")


def test_a_counter_as_numpy_writes_it(tmp_path):
    """Its turns are those of the number, not of the digits before the point."""
    times = np.cumsum(np.random.default_rng(5).integers(1, 100_000, 500))
    np.savetxt(tmp_path / "t.txt", np.column_stack([times % 2**18 + 0.5, np.arange(500) % 3]), header="t_us ch")
    run = run_all(tmp_path / "run", f"csv:{tmp_path}/t.txt?bits=18")
    assert [row[0] for row in rows_of(run)] == (times * 1000 + 500).tolist()


@pytest.mark.parametrize("number, kinds", [
    (2**24, "f32 f64 u32 i32"), (2**24 + 1, "f64 u32 i32"), (2**31, "f32 f64 u32"), (2**32 - 1, "f64 u32"), (2**53, "f32 f64"),
    (2**53 + 1, ""), (2**60, "f32 f64"), (2**63 - 1, ""), (2**64, "f32 f64"), (2**64 + 1, ""), (3 * 10**19, "f64"), (10**25 + 1, ""), (-(2**31), "f32 f64 i32"), (-(2**31) - 1, "f64"), (-(2**53) - 1, ""),
])
def test_whole_numbers_are_kept_or_refused(tmp_path, number, kinds):
    path = table(tmp_path, f"t_ns,ch,energy\n1,1,{number}\n")
    for kind, dtype in (("u32", "<u4"), ("i32", "<i4"), ("f32", "<f4"), ("f64", "<f8")):
        uri = f"{path}?payload=energy:{kind}"
        if kind in kinds:
            words = tuple(np.array([number], dtype).view("<u4").tolist())
            assert rows_of(run_all(tmp_path / kind, uri)) == [(1, 0, 1, words)]
        else:
            refused(uri, "t.csv:2", f"'{number}' is not payload")
    if not kinds:
        refused(path, "t.csv:2", "no kind", "leave energy out of payload=")


def test_times_with_a_sign_or_many_zeros(tmp_path):
    """They are numbers as Python and spreadsheets write them, too."""
    texts = {"+5": 5, "12." + 30 * "0": 12, "+1.25e1": 12.5, "13.5" + 25 * "0": 13.5, "14." + 22 * "0" + "e+0": 14}
    path = table(tmp_path, "t_us,ch\n" + "".join(f"{text},+{n}\n" for n, text in enumerate(texts)))
    assert [row[::2] for row in rows_of(run_all(tmp_path / "run", path))] == [(round(1000 * t), n) for n, t in enumerate(texts.values())]
    run = run_all(tmp_path / "turns", f"{path}?bits=10")
    assert [row[0] for row in rows_of(run)] == [round(1000 * t) for t in texts.values()]
    for bad in ("+-5", "++5", "12." + 25 * "0" + "1"):
        refused(table(tmp_path, f"t_us,ch\n1,1\n{bad},1\n"), "t.csv:3", "is not a time")


def test_whole_times_above_2_to_the_53(tmp_path):
    times = [2**53 + 1, 2**53 + 3, 2**60 + 1]
    path = table(tmp_path, "t_ns,ch\n" + "".join(f"{t},1\n" for t in times))
    np.array(times, "<u8").tofile(tmp_path / "t.bin")
    for n, uri in enumerate((f"{path}?reorder=1ns", f"packed:{tmp_path}/t.bin?record=8&time=u64le@0&fixed-channel=1")):
        assert [row[0] for row in rows_of(run_all(tmp_path / f"run{n}", uri))] == times


def test_stated_whole_kinds_in_floating_point(tmp_path):
    path = table(tmp_path, "t_ns,ch,flags\n1,1,1.000e+00\n2,1,2.500e+02\n")
    assert [row[3] for row in rows_of(run_all(tmp_path / "run", f"{path}?payload=flags:u32"))] == [(1,), (250,)]
    path = table(tmp_path, "t_ns,ch,flags\n1,1,-1.000e+00\n2,1,2.500e+00\n")
    refused(f"{path}?payload=flags:i32", "t.csv:3", "'2.500e+00' is not payload")


@pytest.mark.parametrize("text, kinds", [
    ("16777217.0", "f64"), ("1.6777217e7", "f64"), ("16777216.0", "f32 f64"), ("16777217.5", "f32 f64"), ("9007199254740993.0", ""), ("1e30", "f32 f64"),
    ("1.8446744073709551616e19", "f32 f64"), ("1.8446744073709551617e+19", ""), ("36893488147419103233.00", ""),
])
def test_whole_numbers_with_a_point_or_an_exponent(tmp_path, text, kinds):
    path = table(tmp_path, f"t_ns,ch,energy\n1,1,{text}\n")
    for kind, dtype in (("f32", "<f4"), ("f64", "<f8")):
        uri = f"{path}?payload=energy:{kind}"
        if kind not in kinds:
            refused(uri, "t.csv:2", f"'{text}' is not payload")
            continue
        assert rows_of(run_all(tmp_path / kind, uri))[0][3] == tuple(np.array([float(text)], dtype).view("<u4").tolist())


@pytest.mark.parametrize("kind", ["f4", "f8", "i2", "i4"])
def test_channels_of_records_in_other_types(tmp_path, kind):
    """They are read when they are whole numbers from 0."""
    channels = np.array([0, 5, 32_000, -1] + ([1.5, np.nan] if kind[0] == "f" else []))
    records = np.zeros(len(channels), dtype=[("t", "<u8"), ("c", "<" + kind)])
    records["t"], records["c"] = np.arange(len(channels)), channels
    records.tofile(tmp_path / "t.bin")
    field = {"f4": "f32le@8", "f8": "f64le@8", "i2": "i16le@8", "i4": "i32le@8"}[kind]
    run = run_all(tmp_path / "run", f"packed:{tmp_path}/t.bin?record={records.itemsize}&time=u64le@0&channel={field}", code=3)
    assert rows_of(run) == [(0, 0, 0, ()), (1, 0, 5, ()), (2, 0, 32_000, ())]
    assert lost(run) == {"corrupt": len(channels) - 3} and f"offset {3 * records.itemsize}: -1 is not a channel" in run.done.stderr


def test_inspect_shows_numbers_of_any_type(tmp_path):
    records = np.zeros(2, dtype=[("t", "<u8"), ("e", "<f8"), ("d", "<i2"), ("f", "<f4"), ("c", "u1")])
    records["t"], records["e"], records["d"], records["f"] = [1, 2], [1.25, -1e300], [-3, 4], [0.5, np.nan]
    records.tofile(tmp_path / "t.bin")
    path = table(tmp_path, "t_ns,ch,e,d,f\n" + "".join(f"{t},{c},{e},{d},{f}\n" for t, e, d, f, c in records.tolist()))
    for uri in (f"{path}?payload=e,d:i32,f:f32", f"packed:{tmp_path}/t.bin?record=23&time=u64le@0&channel=u8@22&payload=e:f64le@8,i16le@16,f32le@18"):
        done = eventloom("inspect", uri, "--events", 2, "--json")
        assert [hit["payload"] for hit in json.loads(done.stdout)["first_events"]] == [[1.25, -3, 0.5], [-1e300, 4, None]]


@pytest.mark.parametrize("yes, no", [("True", "False"), ("true", "false"), ("TRUE", "FALSE")])
def test_booleans_are_whole_numbers(tmp_path, yes, no):
    path = table(tmp_path, f"t_ns,ch,valid\n1,1,{yes}\n2,2,{no}\n3,3,{yes}\n")
    assert rows_of(run_all(tmp_path / "run", f"{path}?payload=valid")) == [(1, 0, 1, (1,)), (2, 0, 2, (0,)), (3, 0, 3, (1,))]
    for n, condition in enumerate((f"valid=={yes}", "valid==1", "valid!=0", "valid>0", "valid==True")):
        assert [row[0] for row in rows_of(run_all(tmp_path / f"run{n}", f"{path}?where={condition}"))] == [1, 3]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas(tmp_path, separator):
    text = "t_us;ch;energy\n12,5;3;-0,75\n13,125;4;1,5e2\n14;5;,5\n".replace(";", separator)
    run = run_all(tmp_path / "run", table(tmp_path, text))
    assert rows_of(run) == [(12_500, 0, 3, words_of(-0.75)), (13_125, 0, 4, words_of(150.0)), (14_000, 0, 5, words_of(0.5))]
    assert "decimal commas" in run.done.stderr
    for bad in ("1.234,5", "1,234,567", "1,5x"):
        refused(table(tmp_path, f"t_us;ch\n1;1\n{bad};1\n".replace(";", separator)), "t.csv:3", f"'{bad}' is not")
    words = run_all(tmp_path / "words", table(tmp_path, "t_ns;ch\n1;a,b\n2;c\n".replace(";", separator)))
    assert rows_of(words) == [(1, 0, 0, ()), (2, 0, 1, ())]


# ---- words and ids as channels

def test_words_have_one_numbering_in_a_run(tmp_path):
    """Files that lack a word of the others would number the rest differently: refused, until a table numbers them all."""
    table(tmp_path, "t_ns,det\n1,Ge1\n2,Ge2\n", "run_0.csv")
    table(tmp_path, "t_ns,det\n11,Ge1\n12,BGO\n13,Ge2\n", "run_1.csv")
    uri = f"csv:{tmp_path}/run_*.csv?channel=det"
    refused(uri, "run_1.csv", "run_0.csv", "BGO = 0", "channels=FILE")
    eventloom("convert", uri, "--output", f"{tmp_path}/streams/")
    refused(f"file:{tmp_path}/streams/*.epochs", "BGO = 0", "channels=FILE")
    eventloom("align", uri, "--output", tmp_path / "map.csv", code=2)
    names = table(tmp_path, "BGO,0\nGe1,1\nGe2,2\n", "names")
    assert [row[2] for row in rows_of(run_all(tmp_path / "run", f"{uri}&channels={names}"))] == [1, 2, 1, 0, 2]
    apart = [f"csv:{tmp_path}/run_0.csv?channel=det&system=1", f"csv:{tmp_path}/run_1.csv?channel=det"]
    assert [row[2] for row in rows_of(run_all(tmp_path / "apart", *apart))] == [1 << 22, 1 << 22 | 1, 1, 0, 2]
    for n, uri_of_one in enumerate(apart):
        eventloom("convert", uri_of_one, "--output", tmp_path / f"apart_{n}.epochs")
    assert len(rows_of(run_all(tmp_path / "streams_apart", f"file:{tmp_path}/apart_*.epochs"))) == 5
    table(tmp_path, "t_ns,det\n1,Ge1\n2,Ge2\n3,BGO\n", "run_0.csv")
    assert [row[2] for row in rows_of(run_all(tmp_path / "same", uri))] == [1, 2, 0, 1, 0, 2]


@pytest.mark.parametrize("first", ["numbers", "words"])
def test_words_are_not_read_beside_numbers(tmp_path, first):
    """The first word would be the same channel as the number 0."""
    texts = {"numbers": "t_ns,det\n1,0\n2,1\n", "words": "t_ns,det\n11,left\n12,right\n"}
    for name, text in texts.items():
        table(tmp_path, text, f"{'a' if name == first else 'b'}_{name}.csv")
    uri = f"csv:{tmp_path}/[ab]_*.csv?channel=det"
    refused(uri, "words.csv", "numbers.csv", "channels=FILE", "system=N")
    names = table(tmp_path, "left,2\nright,3\n", "names")
    assert sorted(row[2] for row in rows_of(run_all(tmp_path / "run", f"{uri}&channels={names}"))) == [0, 1, 2, 3]
    uris = [f"csv:{tmp_path}/{'a' if name == first else 'b'}_{name}.csv?channel=det&system={n}" for n, name in enumerate(texts)]
    assert len(rows_of(run_all(tmp_path / "apart", *uris))) == 4


@pytest.mark.parametrize("form", ["csv", "csv?system=0", "packed", "hdf5", "epochs"])
def test_words_are_not_read_beside_numbers_of_any_format(tmp_path, form):
    """Unless they are another system, or lie above the words."""
    words = f"csv:{table(tmp_path, f't_ns,det{chr(10)}11,left{chr(10)}12,right{chr(10)}', 'words.csv')}?channel=det"
    table(tmp_path, "t_ns,ch\n1,0\n2,1\n", "n.csv")
    np.array([(1, 0), (2, 1)], "<u4").tofile(tmp_path / "n.bin")
    with h5py.File(tmp_path / "n.h5", "w") as file:
        file["time"], file["channel"] = [1, 2], [0, 1]
    eventloom("convert", f"csv:{tmp_path}/n.csv", "--output", tmp_path / "n.epochs")
    numbers = {"csv": f"csv:{tmp_path}/n.csv?", "csv?system=0": f"csv:{tmp_path}/n.csv?system=0&", "packed": f"packed:{tmp_path}/n.bin?record=8&time=u32le@0&channel=u32le@4&",
               "hdf5": f"hdf5:{tmp_path}/n.h5?unit=ns&", "epochs": f"file:{tmp_path}/n.epochs?"}[form][:-1]
    text = refused_run(tmp_path, words, numbers)
    assert "words.csv' are words" in text and f"{tmp_path}/n." in text and "system=N" in text
    assert len(rows_of(run_all(tmp_path / "words", f"{words}&system=3", numbers))) == 4
    if form != "csv?system=0":
        assert len(rows_of(run_all(tmp_path / "numbers", words, numbers + ("&" if "?" in numbers else "?") + "system=3"))) == 4


def test_words_beside_a_fixed_channel_and_beside_nothing(tmp_path):
    words = f"csv:{table(tmp_path, f't_ns,det{chr(10)}11,left{chr(10)}12,right{chr(10)}', 'words.csv')}?channel=det"
    time = table(tmp_path, "t_ns\n1\n2\n", "time.csv")
    assert "time.csv' are numbers" in refused_run(tmp_path, words, f"csv:{time}?fixed-channel=1")
    assert len(rows_of(run_all(tmp_path / "above", words, f"csv:{time}?fixed-channel=2"))) == 4
    assert len(rows_of(run_all(tmp_path / "empty", words, f"csv:{table(tmp_path, 't_ns,ch' + chr(10), 'empty.csv')}"))) == 2


IDS = [0x10_0000_0001, 0x1234_5678_9ABC_DEF0, 77, 2**64 - 1]


@pytest.mark.parametrize("form", ["csv", "packed"])
def test_ids_above_28_bits(tmp_path, form):
    random = np.random.default_rng(3)
    hits = np.zeros(500, dtype=[("t", "<u8"), ("id", "<u8")])
    hits["t"], hits["id"] = np.arange(500) * 3, np.array(IDS, dtype="u8")[random.integers(0, 4, 500)]
    hits.tofile(tmp_path / "t.bin")
    table(tmp_path, "t_ns,id\n" + "".join(f"{t},{i}\n" for t, i in hits.tolist()))
    uri = {"csv": f"csv:{tmp_path}/t.csv?", "packed": f"packed:{tmp_path}/t.bin?record=16&time=u64le@0&channel=u64le@8&"}[form]
    number = {IDS[0]: 5, IDS[1]: 0xFFFFFFF, IDS[2]: 77, IDS[3]: 9}
    names = table(tmp_path, f"id,channel\n{IDS[0]},5\n{IDS[1]:#x},0xfffffff\n{IDS[3]},9\n", "ids.csv")
    run = run_all(tmp_path / "run", f"{uri}channels={names}")
    assert rows_of(run) == [(t, 0, number[i], ()) for t, i in hits.tolist()]
    few = table(tmp_path, f"{IDS[0]},5\n{IDS[3]},9\n", "few.csv")
    if form == "csv":
        refused(f"{uri}channels={few}", "t.csv:", "is not a channel", "channels=")
    run = run_all(tmp_path / "few", f"{uri}channels={few}" + ("&skip-bad=yes" if form == "csv" else ""), code=3)
    assert rows_of(run) == [(t, 0, number[i], ()) for t, i in hits.tolist() if i != IDS[1]]
    assert lost(run) == {"corrupt": int((hits["id"] == IDS[1]).sum())}
    if form == "packed":
        done = eventloom("run", uri.rstrip("&"), "--define", "gap:0,1", "--output", tmp_path / "none.h5", code=3)
        assert f"t.bin: offset 0: {hits['id'][0]} is not a channel" in done.stderr and "channels=FILE" in done.stderr
    refused(f"{uri}channels={table(tmp_path, f'{IDS[0]},5' + chr(10) + f'{IDS[0]:#x},6' + chr(10), 'twice.csv')}", "named before")


# ---- ticks by channel

UNITS = {"0x20000-0x2ffff:10ns,0x30000-0x3ffff:8ns": (10_000, 8_000), "0x20000-0x2ffff:12.5ns,196608-0x3ffff:25/3ns": (12_500, 25_000 / 3)}


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("form", ["csv", "packed", "hdf5"])
def test_ticks_by_channel(tmp_path, form, units):
    """Modules with two clocks in one file."""
    random = np.random.default_rng(9)
    rows = np.zeros(2000, dtype=[("t", "<u4"), ("slot", "<u2"), ("c", "<u2")])
    rows["slot"], rows["c"] = np.arange(2000) % 2 + 2, random.integers(0, 100, 2000)
    rows["t"] = np.sort(random.integers(0, 10_000_000, 2000)) * 3
    rows.tofile(tmp_path / "t.bin")
    table(tmp_path, "t,ch\n" + "".join(f"{t},{s << 16 | c}\n" for t, s, c in rows.tolist()))
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["time"], file["channel"] = rows["t"], rows["slot"].astype("u4") << 16 | rows["c"]
    uri = {"csv": f"csv:{tmp_path}/t.csv?", "packed": f"packed:{tmp_path}/t.bin?record=8&time=u32le@0&channel=u16le@6&subsystem=u16le@4&",
           "hdf5": f"hdf5:{tmp_path}/t.h5?"}[form]
    run = run_all(tmp_path / "run", f"{uri}unit={units}&reorder=1s", options=("--tick", "500ps"))
    lengths = {2: UNITS[units][0], 3: UNITS[units][1]}
    expected = sorted((round(t * lengths[s] / 500), 0, s << 16 | c, ()) for t, s, c in rows.tolist())
    assert sorted(rows_of(run)) == expected
    only = units.partition(",")[0]
    if form != "packed" and "10ns" in only:
        refused(f"{uri}unit={only}", {"csv": "t.csv:3", "hdf5": "t.h5:/time' row 1"}[form], "unit=", "skip-bad=yes")
    run = run_all(tmp_path / "only", f"{uri}unit={only}&reorder=1s" + ("&skip-bad=yes" if form != "packed" else ""), code=3,
                  options=("--tick", "500ps"))
    assert sorted(rows_of(run)) == [row for row in expected if row[2] >> 16 == 2] and lost(run) == {"corrupt": 1000}
    inspected = json.loads(eventloom("inspect", f"{uri}unit={units}", "--json").stdout)
    assert inspected["hits"] == 2000


@pytest.mark.parametrize("unit", ["0-5:ns,3-7:us", "0-5:parsec", "5-0:ns", "0-5:ns,", "x:ns", "0-268435456:ns", "0-5:", ":ns"])
@pytest.mark.parametrize("form", ["csv", "packed", "hdf5"])
def test_units_that_cannot_be(tmp_path, form, unit):
    np.zeros(4, "<u8").tofile(tmp_path / "t.bin")
    path = table(tmp_path, "t,ch\n1,1\n")
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["time"], file["channel"] = [1], [1]
    uri = {"csv": f"csv:{path}?", "packed": f"packed:{tmp_path}/t.bin?record=8&time=u32le@0&channel=u8@4&",
           "hdf5": f"hdf5:{tmp_path}/t.h5?"}[form]
    refused(f"{uri}unit={unit}", "unit")
    refused(f"{uri}unit=0-5:ns&bits=32", "unit= by channels is not valid with bits=")


# ---- records that mark a turn

def marked_records(random, period, bits, gaps, most):
    """Times with gaps of up to several turns, and the rows (number, channel, marks) of a counter whose turns are marked."""
    times = np.cumsum(random.integers(1, gaps, 3000)).tolist()
    channels = random.integers(0, 4, 3000).tolist()
    rows, turn = [], 0
    for time, channel in zip(times, channels):
        while time // period > turn:
            step = min(int(random.integers(1, most + 1)), time // period - turn)
            rows.append((0 if step == 1 and random.integers(2) else step, 63, 1))
            turn += step
        rows.append((time % period, channel, 0))
    assert any(number > 1 for number, _, marks in rows if marks) and bits <= 25
    return times, channels, rows


def write_marked(path, rows):
    with h5py.File(path, "w") as file:
        for name, values in zip(("time", "channel", "special"), zip(*rows)):
            file[name] = np.array(values, "u4")


@pytest.mark.parametrize("period, key", [(2**20, "bits=20"), (999_983, "modulus=999983")])
@pytest.mark.parametrize("form", ["csv", "packed", "hdf5"])
@pytest.mark.parametrize("which", ["flag", "channel"])
def test_rows_that_mark_turns(tmp_path, form, which, period, key):
    """Pauses may be longer than a turn; a mark may stand for several turns, and 0 is one."""
    times, channels, rows = marked_records(np.random.default_rng(4), period, 25, 5 * period, 7)
    np.array([marks << 31 | channel << 25 | number for number, channel, marks in rows], "<u4").tofile(tmp_path / "t.bin")
    table(tmp_path, "t,ch,special\n" + "".join(f"{n},{c},{m}\n" for n, c, m in rows))
    write_marked(tmp_path / "t.h5", rows)
    uri, overflow = {"csv": (f"csv:{tmp_path}/t.csv?", {"flag": "special", "channel": "ch==63"}),
                     "hdf5": (f"hdf5:{tmp_path}/t.h5?", {"flag": "special", "channel": "channel==63&&special>0"}),
                     "packed": (f"packed:{tmp_path}/t.bin?record=4&time=u32le@0:0-24&channel=u32le@0:25-30&",
                                {"flag": "u32le@0:31", "channel": "u32le@0:25-30==63&&u32le@0:31>0"})}[form]
    keys = f"unit=ps&{key}&overflow={overflow[which]}"
    run = run_all(tmp_path / "run", f"{uri}{keys}", options=("--tick", "1ps"))
    assert rows_of(run) == [(t, 0, c, ()) for t, c in zip(times, channels)] and lost(run) == {}
    assert counts_of(run.report(), 0)["clock_turns"] == times[-1] // period - times[0] // period
    refused(f"{uri}unit=ps&overflow={overflow[which]}", "overflow=", "bits= or modulus=")


@pytest.mark.parametrize("form", ["csv", "packed", "hdf5"])
def test_marks_across_files(tmp_path, form):
    """Turns go on; more marks than a block has rows lie between two hits."""
    for n, rows in enumerate(([(5, 1, 0)] + [(0, 63, 1)] * 150_000 + [(6, 1, 0)], [(7, 1, 0), (2, 63, 1), (8, 1, 0)])):
        np.array([m << 31 | c << 25 | t for t, c, m in rows], "<u4").tofile(tmp_path / f"t{n}.bin")
        table(tmp_path, "t,ch,special\n" + "".join(f"{t},{c},{m}\n" for t, c, m in rows), f"t{n}.csv")
        write_marked(tmp_path / f"t{n}.h5", rows)
    uri = {"csv": f"csv:{tmp_path}/t*.csv?overflow=special", "hdf5": f"hdf5:{tmp_path}/t*.h5?overflow=special",
           "packed": f"packed:{tmp_path}/t*.bin?record=4&time=u32le@0:0-24&channel=u32le@0:25-30&overflow=u32le@0:31"}[form]
    run = run_all(tmp_path / "run", f"{uri}&unit=ns&bits=10&concat")
    assert [row[0] for row in rows_of(run)] == [5, 150_000 * 1024 + 6, 150_000 * 1024 + 7, 150_002 * 1024 + 8]


def test_marks_that_cannot_be(tmp_path):
    path = table(tmp_path, "t,ch,special\n1,1,0\nx,63,1\n2,1,\n")
    keys = "unit=ns&bits=10&overflow=special"
    refused(f"{path}?{keys}", "t.csv:3", "'x' is not a number of turns")
    run = run_all(tmp_path / "run", f"{path}?{keys}&skip-bad=yes", code=3)
    assert rows_of(run) == [(1, 0, 1, ())] and lost(run) == {"corrupt": 2}
    refused(f"{path}?unit=ns&bits=0-3:10,4-7:12&overflow=special", "overflow=", "one counter")
    refused(f"{path}?unit=ns&bits=10&overflow=kind", "no column is called 'kind'")


# ---- conditions

N = 1000
KIND = np.where(np.arange(N) % 50 == 7, 4, np.where(np.arange(N) % 9 == 2, 1, 0))
CONDITIONS = {
    "type==0": KIND == 0, "type!=4": KIND != 4, "type<4": KIND < 4, "type<=1": KIND <= 1, "type>0": KIND > 0, "type>=1": KIND >= 1,
    "type==0&&energy>=500": (KIND == 0) & (np.arange(N) >= 500), "energy>99.5&&type!=4&&energy<1e2": np.arange(N) == -1,
    "energy==0x10": np.arange(N) == 16, "bit==1": (np.arange(N) >> 3) % 2 == 1, "offset<-2.5": (np.arange(N) % 7 - 3) < -2.5, "offset==-3": np.arange(N) % 7 == 0,
}


def forms_of_rows(folder):
    """The same rows in each form; returns the URI before the key `where`, and its columns by name."""
    rows = np.zeros(N, dtype=[("t", "<u8"), ("c", "u1"), ("type", "u1"), ("energy", "<u4"), ("offset", "<i2"), ("bit", "u1")])
    rows["t"], rows["c"], rows["type"], rows["energy"] = np.arange(N) * 100, np.arange(N) % 4, KIND, np.arange(N)
    rows["offset"], rows["bit"] = np.arange(N) % 7 - 3, (np.arange(N) >> 3) % 2
    rows.tofile(folder / "t.bin")
    table(folder, "t_ns,ch,type,energy,offset,bit\n" + "".join(",".join(map(str, row)) + "\n" for row in rows.tolist()))
    return {"csv": (f"csv:{folder}/t.csv?payload=energy", {}),
            "packed": (f"packed:{folder}/t.bin?record=17&time=u64le@0&channel=u8@8&payload=energy:u32le@10",
                       {"type": "u8@9", "offset": "i16le@14", "bit": "u32le@10:3"})}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("form", ["csv", "packed"])
def test_rows_that_make_hits(tmp_path, form, condition):
    """The others are counted, and are no losses; the payload is that of the hits."""
    uri, names = forms_of_rows(tmp_path)[form]
    text = condition
    for name, field in names.items():
        text = text.replace(name, field)
    run = run_all(tmp_path / "run", f"{uri}&where={text}")
    chosen = CONDITIONS[condition]
    assert rows_of(run) == [(100 * n, 0, n % 4, (n,)) for n in range(N) if chosen[n]]
    assert lost(run) == ({"cut": int(N - chosen.sum())} if chosen.sum() < N else {})


def test_conditions_on_words_and_missing_values(tmp_path):
    path = table(tmp_path, "t_ns,ch,what\n1,1,hit\n2,-,lost\n,3,lost\n4,4,hit\n5,5,\n")
    run = run_all(tmp_path / "run", f"{path}?where=what==hit&skip-bad=yes", code=3)
    assert rows_of(run) == [(1, 0, 1, ()), (4, 0, 4, ())] and lost(run) == {"cut": 2, "corrupt": 1}
    for text in ('"hit"', "'hit'"):
        assert rows_of(run_all(tmp_path / f"q{ord(text[0])}", f"{path}?where=what=={text}&skip-bad=yes", code=3)) == rows_of(run)
    refused(f"{path}?where=what==hit", "t.csv:6", "where=", "skip-bad=yes")
    path = table(tmp_path, "t_ns,ch,what\n1,1,07\n2,2,7\n3,3,a=b\n")
    for n, (text, times) in enumerate({"==7": [1, 2], '=="7"': [2], '=="a=b"': [3], '!="a=b"': [1, 2]}.items()):
        keys = "&skip-bad=yes" if text == "==7" else ""
        assert [row[0] for row in rows_of(run_all(tmp_path / f"w{n}", f"{path}?where=what{text}{keys}", code=3 if keys else 0))] == times
    records = np.zeros(9, dtype=[("t", "<u4"), ("x", "<f4")])
    records["t"], records["x"] = np.arange(9), [0, 1, np.nan, 3, 4, 5, 6, 7, 8]
    records.tofile(tmp_path / "t.bin")
    run = run_all(tmp_path / "nan", f"packed:{tmp_path}/t.bin?record=8&time=u32le@0&fixed-channel=2&where=f32le@4>=3", code=3)
    assert [row[0] for row in rows_of(run)] == list(range(3, 9)) and lost(run) == {"cut": 2, "corrupt": 1}


FRACTIONS = {"==0.3": lambda k: k == 3, "!=0.3": lambda k: k != 3, "<0.7": lambda k: k < 7, "<=0.7": lambda k: k <= 7, ">0.1": lambda k: k > 1,
             ">=0.1&&{}!=0.6": lambda k: k >= 1 and k != 6}


def forms_of_fractions(folder, form):
    """The numbers 0 to 0.9 in columns of several types; returns the URI before the key `where`, and the columns."""
    tenths = np.arange(10)
    if form == "csv":
        table(folder, "t_ns,ch,q\n" + "".join(f"{k},{k},{k / 10}\n" for k in tenths.tolist()))
        return f"csv:{folder}/t.csv?", ["q"]
    if form == "packed":
        fields = {"f32le@2": "<f4", "f64le@6": "<f8", "u16le@14*0.1": "<u2", "i16le@16*0.1": "<i2", "f32le@18*0.1": "<f4"}
        rows = np.zeros(10, dtype=[("t", "u1"), ("c", "u1"), *((name, kind) for name, kind in fields.items())])
        rows["t"] = rows["c"] = tenths
        for name in fields:
            rows[name] = tenths if "*" in name else tenths / 10
        rows.tofile(folder / "t.bin")
        return f"packed:{folder}/t.bin?record={rows.itemsize}&time=u8@0&channel=u8@1&", list(fields)
    with h5py.File(folder / "t.h5", "w") as file:
        file["time"] = file["channel"] = tenths
        for kind in ("f2", "f4", "f8", "u2", "i8"):
            file[kind] = (tenths / 10 if kind[0] == "f" else tenths).astype(kind)
            if kind[0] != "f":
                file[kind].attrs["scale_factor"] = np.float32(0.1)
        columns = list(file)
    return f"hdf5:{folder}/t.h5?unit=ns&", [name for name in columns if name not in ("time", "channel")]


@pytest.mark.parametrize("form", ["csv", "packed", "hdf5"])
def test_fractions_are_compared_in_the_precision_of_the_column(tmp_path, form):
    """0.3 is the number that a column of its type holds for it, and 3 times a tenth."""
    uri, columns = forms_of_fractions(tmp_path, form)
    for column in columns:
        for condition, holds in FRACTIONS.items():
            shown = json.loads(eventloom("inspect", f"{uri}where={column}{condition.format(column)}", "--events", 10, "--json").stdout)
            assert [hit["channel"] for hit in shown["first_events"]] == [k for k in range(10) if holds(k)], (column, condition)


@pytest.mark.parametrize("form", ["packed", "hdf5"])
def test_a_whole_number_that_the_column_cannot_hold(tmp_path, form):
    """No row would ever be equal to it."""
    uri, columns = forms_of_fractions(tmp_path, form)
    column = {"packed": "f32le@2", "hdf5": "f4"}[form]
    refused(f"{uri}where={column}==16777217", "where=", column, "no number of 24 binary digits", "16777217", "< or >")
    assert len(rows_of(run_all(tmp_path / "run", f"{uri}where={column}<16777217&&{column}!=16777218"))) == 10


def test_quotes_in_conditions(tmp_path):
    path = table(tmp_path, "t_ns,ch,what\n1,1,R&&D\n2,2,it's\n3,3,x\n4,4,R\n")
    for n, (text, times) in enumerate({'=="R&&D"': [1], "!='R&&D'&&ch<4": [2, 3], '=="it\'s"': [2], "!=\"x\"&&what!='R'": [1, 2]}.items()):
        assert [row[0] for row in rows_of(run_all(tmp_path / f"run{n}", f"{path}?where=what{text}"))] == times
    for text in ('"R', "R'", '"x"y', "'x\""):
        refused(f"{path}?where=what=={text}", "where=", "quotes, one before it and one behind it")


def test_a_word_is_not_compared_with_numbers(tmp_path):
    """No row would be equal to it, so that nothing would be read, without a word."""
    path = table(tmp_path, "t_ns,ch,q\n1,1,\n2,2,0.5\n3,3,7\n")
    refused(f"{path}?where=ch==x&skip-bad=yes", "t.csv", "where= compares column 'ch' with the word 'x'", "numbers alone", 'ch=="x"')
    refused(f"{path}?where=q!=x&skip-bad=yes", "'q' with the word 'x'")
    run = run_all(tmp_path / "run", f'{path}?where=q=="7"&skip-bad=yes', code=3)
    assert [row[0] for row in rows_of(run)] == [3] and lost(run) == {"cut": 1, "corrupt": 1}


def test_rows_left_out_name_no_channels(tmp_path):
    path = table(tmp_path, "t_ns,det,type,energy\n1,aa,4,x\n2,veto,0,5\n3,-,4,1.5\n4,muon,0,6\n")
    run = run_all(tmp_path / "run", f"{path}?channel=det&payload=energy&where=type==0")
    assert rows_of(run) == [(2, 0, 1, (5,)), (4, 0, 0, (6,))]


@pytest.mark.parametrize("condition", ["type", "type=0", "type==", "==0", "type==0&&", "type<hit", "type==0==1", "&&type==0", 'type<"0"'])
@pytest.mark.parametrize("form", ["csv", "packed"])
def test_conditions_that_cannot_be(tmp_path, form, condition):
    uri, names = forms_of_rows(tmp_path)[form]
    refused(f"{uri}&where={condition.replace('type', names.get('type', 'type'))}", "where=", "COLUMN==VALUE")


def test_columns_of_conditions(tmp_path):
    uris = forms_of_rows(tmp_path)
    refused(f"{uris['csv'][0]}&where=kind==0", "no column is called 'kind'")
    refused(f"{uris['packed'][0]}&where=u8@17==0", "where=", "does not lie inside a record")
    refused(f"{uris['packed'][0]}&where=u8@9==hit", "where=", "'hit', which is no number")


def test_one_table_as_two_sources(tmp_path):
    """Rows of different kinds may be different sources; equal tables of two devices are told apart by system=."""
    uri, _ = forms_of_rows(tmp_path)["csv"]
    run = run_all(tmp_path / "kinds", f"{uri}&where=type==0", f"{uri}&where=type==1&system=1")
    assert [(row[1], row[2] >> 22) for row in rows_of(run)] == [(int(k), int(k)) for k in KIND[KIND < 4]]
    table(tmp_path, (tmp_path / "t.csv").read_text(), "u.csv")
    refused_text = refused_run(tmp_path, f"csv:{tmp_path}/t.csv", f"csv:{tmp_path}/u.csv")
    assert "same contents" in refused_text and "system=" in refused_text
    refused_text = refused_run(tmp_path, f"csv:{tmp_path}/t.csv", f"csv:{tmp_path}/u.csv?system=0")
    assert "same contents" in refused_text and "system=" in refused_text
    run = run_all(tmp_path / "devices", f"csv:{tmp_path}/t.csv?system=1", f"csv:{tmp_path}/u.csv?system=2")
    assert len(rows_of(run)) == 2 * N


def refused_run(folder, *uris):
    sources = [word for uri in uris for word in ("--source", uri)]
    return eventloom("run", *sources, "--define", "gap:0,1", "--output", f"{folder}/refused.h5", code=2).stderr


def test_joined_counters_count_one_unit(tmp_path):
    """The turns of a counter of ns do not go on in one of us; times that do not turn are converted."""
    table(tmp_path, "t_ns,ch\n100,1\n200,2\n10,1\n", "k1.csv")
    table(tmp_path, "t_us,ch\n1,1\n2,2\n", "k2.csv")
    reported = refused_run(tmp_path, f"csv:{tmp_path}/k[12].csv?concat&bits=8")
    assert "k2.csv' counts in units of us" in reported and "of ns" in reported
    assert len(rows_of(run_all(tmp_path / "run", f"csv:{tmp_path}/k[12].csv?concat&reorder=1us"))) == 5


# ---- what R, pandas and spreadsheets write

@pytest.mark.parametrize("word", ["NA", "N/A", "#N/A", "<NA>", "null", "NULL", "None"])
def test_words_for_a_missing_number(tmp_path, word):
    path = table(tmp_path, f"t_ns,ch,energy\n1,1,5\n2,2,{word}\n")
    for keys in ("", "?payload=energy:f64"):
        run = run_all(tmp_path / f"run{keys[1:8]}", f"{path}{keys}")
        assert rows_of(run) == [(1, 0, 1, words_of(5)), (2, 0, 2, NAN)]
    refused(table(tmp_path, f"ch,t_ns\n1,1\n2,{word}\n"), "t.csv:3", "the time is missing")
    refused(table(tmp_path, f"t_ns,ch\n1,1\n{word},2\n"), "t.csv:3", "the time is missing")


@pytest.mark.parametrize("rows", ['"1" 1 3 5\n"2" 2 4 6\n', "1 1 3 5\n2 2 4 6\n"])
def test_names_of_rows_without_a_header(tmp_path, rows):
    """As R's write.table has them: the columns lie one further than the header says."""
    path = table(tmp_path, f"t_ns ch energy\n{rows}")
    refused(path, "t.csv:2", "one column more than the header", "row.names=FALSE", "?skip=1&time=2&channel=3")
    run = run_all(tmp_path / "run", f"{path}?skip=1&time=2&channel=3&payload=4&unit=ns")
    assert rows_of(run) == [(1, 0, 3, (5,)), (2, 0, 4, (6,))]


@pytest.mark.parametrize("rows", ["1.000;3;12,5\n", "1;3;12,5\n2;4;13.5\n", "1;3;13.5\n2;4;12,5\n"])
def test_decimal_commas_and_points_in_one_table(tmp_path, rows):
    refused(table(tmp_path, f"t_ns;ch;energy\n{rows}"), "thousands", "write all numbers alike")
    listed = table(tmp_path, "t_us\tlist\tch\n1.5\t3,5\t4\n", "listed.tsv")
    assert rows_of(run_all(tmp_path / "run", listed)) == [(1500, 0, 4, ())]


def test_first_lines_and_line_ends_of_spreadsheets(tmp_path):
    path = table(tmp_path, "sep=;\nt_ns;ch;energy\n1;3;12,5\n")
    assert rows_of(run_all(tmp_path / "run", path)) == [(1, 0, 3, words_of(12.5))]
    (tmp_path / "t.csv").write_bytes(b"t_ns,ch\r1,3\r2,4\r")
    refused(tmp_path / "t.csv", "t.csv:1", "carriage return")


@pytest.mark.parametrize("form", ["csv", "hdf5", "packed", "midas"])
def test_conditions_that_leave_out_all_rows_are_named(tmp_path, form):
    """No loss: the exit code is 0. One line names all such sources."""
    hits = np.zeros(50, dtype=[("t", "<u8"), ("c", "<u2"), ("k", "u1")])
    hits["t"], hits["c"] = 1000 * np.arange(50), 3
    for n in range(2):
        hits["c"] = n
        table(tmp_path, "t,c,k\n" + "".join(f"{t},{c},{k}\n" for t, c, k in hits.tolist()), f"t{n}.csv")
        hits.tofile(tmp_path / f"t{n}.bin")
        midas.midas_file(tmp_path / f"t{n}.mid", [midas.Event(1, [midas.Bank("HITS", hits.tobytes())])])
        with h5py.File(tmp_path / f"t{n}.h5", "w") as file:
            for name in hits.dtype.names:
                file[name] = hits[name]
    keys = "record=11&time=u64le@0&channel=u16le@8"
    uri = {"csv": f"csv:{tmp_path}/t*.csv?unit=ns&channel=c&where=k==5", "hdf5": f"hdf5:{tmp_path}/t*.h5?time=t&channel=c&unit=ns&where=k==5",
           "packed": f"packed:{tmp_path}/t*.bin?{keys}&where=u8@10==5", "midas": f"midas:{tmp_path}/t*.mid?bank=HITS&{keys}&where=u8@10==5"}[form]
    lines = run_all(tmp_path / "run", uri).done.stderr.splitlines()
    assert [all(word in line for word in ("source 0", "source 1", "all of its 50 rows")) for line in lines if "where=" in line] == [True]
