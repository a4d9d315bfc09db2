"""For gdb: prints the cells of a ring, as formats/ring_layout.hpp draws them, of a process or a core dump.

(gdb) source tests/support/gdb_cells.py
(gdb) ring-cells RING                                    RING: an expression that is a RingConsumer; needs debug information
(gdb) ring-cells-at ADDRESS DEPTH CELL_BYTES [BETWEEN]   without it; ADDRESS: of the first descriptor

A line for each place of the ring, and one for each chunk of its cell: what the headers say, and whether checksums match. In
a run over several hosts, a descriptor or header that does not match may belong to a cell still in flight: it is no error.
"""

import struct

import gdb

KINDS = {0: "data", 1: "end", 2: "gap", 3: "lent"}


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def verdict(is_valid):
    return "ok" if is_valid else "NO MATCH"


def chunk_line(header, body, number):
    slice_number, total, offset, size, origin, kind, more, has_crc, damage, body_crc, crc = struct.unpack("<3Q2IH2B3I", header)
    header_ok = crc32c(header[:44] + bytes(4)) ^ number == crc
    body_ok = verdict(crc32c(body(size)) == body_crc) if has_crc and header_ok else "its own"
    return (f"    {KINDS.get(kind, kind)} of origin {origin} for slice {slice_number}: bytes {offset} to {offset + size} of {total}, "
            f"{damage} damage records{', more follows' if more else ''}; CRC of header {verdict(header_ok)}, of body {body_ok}", size)


def print_cells(address, depth, cell_bytes, between):
    memory = gdb.selected_inferior().read_memory
    for place in range(depth):
        descriptor = memory(address + 64 * place, 64).tobytes()
        number, used, chunks, crc = struct.unpack_from("<4I", descriptor)
        valid = crc32c(descriptor[:12] + bytes(4) + descriptor[-8:]) == crc
        print(f"place {place}: cell {number}, {used} bytes, {chunks} chunks, CRC {verdict(valid)}")
        if number == 0 or not valid or used > cell_bytes:
            continue
        cell = address + 64 * depth + between + place * cell_bytes
        headers = [descriptor[16:]]
        headers += [memory(cell + used - 48 * n, 48).tobytes() for n in range(chunks - 1, 0, -1)]
        at = cell
        for header in headers:
            line, size = chunk_line(header, lambda n: memory(at, n).tobytes(), number)
            print(line)
            at += (size + 7) // 8 * 8


class RingCells(gdb.Command):
    def __init__(self):
        super().__init__("ring-cells", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, text, _from_tty):
        ring = gdb.parse_and_eval(text)
        data = ring["windows_"]["data"]
        window = data.referenced_value().cast(data.dynamic_type.target())["window_"]["memory_"]
        geometry = ring["geometry_"]
        depth, cell_bytes, between = (int(geometry[name]) for name in ("depth", "cell_bytes", "between"))
        released = int(ring["released_"])
        address = int(window["_M_ptr"]) + int(ring["ring_offset_"])
        print(f"ring of rank {int(ring['sender_'])} at {address:#x}, {depth} cells of {cell_bytes} bytes, {between} bytes between: "
              f"{released} cells released, so cell {released + 1} in place {released % depth} is next; "
              f"slices below {int(ring['slice_limit_'])} are granted")
        print_cells(address, depth, cell_bytes, between)


class RingCellsAt(gdb.Command):
    def __init__(self):
        super().__init__("ring-cells-at", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, text, _from_tty):
        address, depth, cell_bytes, *between = (int(gdb.parse_and_eval(word)) for word in gdb.string_to_argv(text))
        print_cells(address, depth, cell_bytes, *between or [0])


RingCells()
RingCellsAt()
