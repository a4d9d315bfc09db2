"""MIDAS events written from the MidasWiki ("Event Structure") alone; shares nothing with the C++ code."""

import struct
from dataclasses import dataclass, field

TYPES = {"u8": 1, "u16": 4, "u32": 6}  # TID_UINT8, TID_UINT16, TID_UINT32
DIGITS = {chr(65 + k): k for k in range(26)} | {str(k): 26 + k for k in range(10)}


@dataclass
class Bank:
    name: str
    data: bytes
    type: int = TYPES["u32"]

    def channel(self):
        number = 0
        for c in self.name:
            number = 37 * number + DIGITS.get(c, 36)
        return number


@dataclass
class Event:
    serial: int
    banks: list = field(default_factory=list)
    id: int = 1
    mask: int = 0
    seconds: int = 1_700_000_000

    def hits(self):
        """[(channel, payload words)]"""
        head = [self.mask << 16 | self.id, self.serial, self.seconds]
        if not self.banks:
            return [(0x0FFFFFFF, (3, *head))]
        found = []
        for bank in self.banks:
            padded = bank.data + bytes(-len(bank.data) % 4)
            words = [*head, int.from_bytes(bank.name.encode(), "little"), bank.type, len(bank.data),
                     *struct.unpack(f"<{len(padded) // 4}I", padded)]
            found.append((bank.channel(), (len(words), *words)))
        return found


def encode(event, form="32"):
    """`form`: the format of its banks, 16, 32 or 32a."""
    body = b""
    for bank in event.banks:
        head = struct.pack("<HH" if form == "16" else "<II", bank.type, len(bank.data)) + (bytes(4) if form == "32a" else b"")
        body += bank.name.encode() + head + bank.data + bytes(-len(bank.data) % 8)
    body = struct.pack("<II", len(body), {"16": 1, "32": 0x11, "32a": 0x31}[form]) + body
    return struct.pack("<HHIII", event.id, event.mask, event.serial, event.seconds, len(body)) + body


def of_logger(kind, run, text=b"<odb/>"):
    return struct.pack("<HHIII", kind, 0x494D, run, 1_700_000_000, len(text)) + text


def midas_file(path, events, form="32", run=7):
    """Writes a file like the logger does for a run."""
    path.write_bytes(of_logger(0x8000, run) + b"".join(encode(event, form) for event in events) + of_logger(0x8001, run))
    return path
