"""CAEN CoMPASS binary list mode, written from CAEN UM5960 (binary file format); shares nothing with the C++ code."""

import struct

FAKE, SATURATED, PILE_UP = 0x8, 0x80, 0x8000


def header(energy=True, calibrated=False, short=False, waveform=False):
    return 0xCAE0 | energy | calibrated << 1 | short << 2 | waveform << 3


def record(bits, board, channel, time_ps, energy=0, calibrated=0.0, short=0, flags=0, samples=(), old=False):
    """One event; `bits`: the file's header."""
    data = struct.pack("<HHQ", board, channel, time_ps)
    if bits & 1:
        data += struct.pack("<H", energy)
    if bits & 2:
        data += struct.pack("<d", calibrated)
    if bits & 4:
        data += struct.pack("<H", short)
    data += struct.pack("<I", flags)
    if bits & 8:
        data += (b"" if old else b"\x01") + struct.pack("<I", len(samples)) + struct.pack(f"<{len(samples)}H", *samples)
    return data


def compass_file(path, bits, records):
    """`records`: dictionaries of the arguments above. The file begins with its header."""
    path.write_bytes(struct.pack("<H", bits) + b"".join(record(bits, **fields) for fields in records))
    return path


COLUMNS = {"BOARD": lambda e: e["board"], "CHANNEL": lambda e: e["channel"], "TIMETAG": lambda e: e["time_ps"],
           "ENERGY": lambda e: e["energy"], "CALIB_ENERGY": lambda e: repr(e["calibrated"]),
           "ENERGYSHORT": lambda e: e["short"], "FLAGS": lambda e: f"0x{e['flags']:x}", "PROBE_CODE": lambda e: 1,
           "SAMPLES": lambda e: ";".join(map(str, e["samples"]))}


def columns_of(bits):
    """The columns of a text file with the contents of a binary file with this header, in CoMPASS's order."""
    return ["BOARD", "CHANNEL", "TIMETAG", *["ENERGY"][:bits & 1], *["CALIB_ENERGY"][:bits >> 1 & 1],
            *["ENERGYSHORT"][:bits >> 2 & 1], "FLAGS", *["PROBE_CODE", "SAMPLES"][:2 * (bits >> 3 & 1)]]


def text_lines(columns, records, separator=";"):
    """CoMPASS's text list mode: the names of the columns, followed by a line for each event."""
    rows = [";".join(str(COLUMNS[column](record)) for column in columns) for record in records]
    return [line.replace(";", separator) for line in [";".join(columns), *rows]]


def text_file(path, columns, records, separator=";", end="\n"):
    path.write_text("".join(line + end for line in text_lines(columns, records, separator)), newline="")
    return path
