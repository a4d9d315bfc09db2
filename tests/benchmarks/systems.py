"""Today's systems beside Eventloom: what they have published, and what differs; the tables of how_fast.md."""

import statistics
from dataclasses import dataclass

from measured import fill, shown
from measurements import MEASUREMENTS

NONE_FOUND = "no published figure found"
UNITS = {(measurement.name, row.label): row.unit for measurement in MEASUREMENTS for row in measurement.rows}


@dataclass(frozen=True)
class Ours:
    """A median of measured.json."""
    measurement: str
    row: str
    what: str

    def text(self, results):
        values = results[self.measurement].values.get(self.row) if self.measurement in results else None
        if not values:
            return f"{self.what}: not measured yet"
        return f"{self.what}: {shown(statistics.median(values))} {UNITS[self.measurement, self.row]}".strip()


@dataclass(frozen=True)
class System:
    name: str
    published: str
    source: str
    hardware: str
    differs: str
    ours: tuple
    beside: tuple = ()  # theirs, measured in the same runs as ours


SHARE_64 = Ours("exchange", "all-to-all, round-robin, 64 KiB: of bare put", "all to all, 64 KiB, of bare put")
SHARE_256 = Ours("exchange", "all-to-all, round-robin, 256 KiB: of bare put", "256 KiB")
RATE_64 = Ours("exchange", "all-to-all, round-robin, 64 KiB", "all to all, 64 KiB, received by a rank")
WHOLE = Ours("whole-run", "`10s --define gap:25ns,4`", "replay to HDF5 on disk, 2 ranks")
IN_MEMORY = Ours("events", "2 ranks, `gap:25ns,4`", "the same in memory")
SHIFTED = Ours("shaped-links", "round-robin", "8 hosts at 100 Mbit, barrel shift")
UNSHIFTED = Ours("shaped-links", "unshifted", "all starting at host 0")
LIVE_LOST = Ours("live", "200 MB/s, 2 ranks: hits lost", "200 MB/s of hits over UDP, lost")
LIVE_LATENCY = Ours("live", "1 rank: hit to built event", "hit to built event")
ONE_CORE = Ours("stages", "`build/gap/sources:1/pattern:0`", "decode, sort and build, one core")

TABLES = {
    "event-builders": (
        System("flesnet (CBM)", "scheduling: +50 % of aggregate bandwidth, variance of arrival at most 1/30",
               "Salem et al., CUG 2019, [ZIB 7334](https://opus4.kobv.de/opus4-zib/frontdoor/index/index/docId/7334)", "Cray XC40",
               "links that congest; timeslices are not searched for events", (SHIFTED, UNSHIFTED)),
        System("flesnet (CBM)", "11.6 to 12 GB/s of a rail of 100 Gbit/s (93 to 96 %), contiguous; 9.5 to 10 scattered",
               "2026, known from a quotation: no public copy found", "100 Gbit/s a rail",
               "a real network; share of the link, ours of bare `MPI_Put`", (SHARE_64, SHARE_256)),
        System("LHCb event builder", "design and commissioning of 32 Tbit/s at 30 MHz; a share of over 80 % is required",
               "Pisani et al., IEEE TNS 70 (2023) 906, [doi](https://doi.org/10.1109/TNS.2023.3240514); "
               "the share is known from a quotation",
               "InfiniBand HDR, 200 Gbit/s", "the sum of all nodes; event numbers, not times", (SHARE_64, RATE_64)),
        System("ALICE O2: FLP, EPN, DataDistribution", "3.5 TB/s read out, 600 GB/s sent to the EPNs, below 100 GB/s stored (design)",
               "Zampolli, 2020, [arXiv:2012.04391](https://arxiv.org/abs/2012.04391)", "about 200 FLPs, InfiniBand",
               "the sum of all nodes; includes reconstruction on GPUs", (RATE_64, WHOLE)),
        System("ALICE O2, in operation", "over 30 GB/s of proton-proton data, compressed and stored",
               "2025, [Indico 1522800](https://indico.cern.ch/event/1522800/contributions/6983078)", "the same",
               "after compression by reconstruction", (WHOLE,)),
        System("CMS DAQ, Run 2", "100 kHz of events, about 100 GB/s to the filter farm",
               "Mommsen et al., CHEP 2016, [Indico 505613](https://indico.cern.ch/event/505613/contributions/2227513/)",
               "InfiniBand FDR, 56 Gbit/s", "the sum of all nodes; triggered", (RATE_64,)),
        System("CMS DAQ, Phase 2", "750 kHz of 8 MB, up to 50 Tbit/s (design)",
               "[Indico 864722](https://indico.cern.ch/event/864722/contributions/3730899), 2020", "RDMA over Ethernet, 100 Gbit/s ports",
               "a plan", ()),
        System("ProtoDUNE-SP (artdaq)", "480 Gbit/s from the front end, reduced to 20 Gbit/s stored",
               "Sipos and Hennessy, 2018, [Indico 543031](https://indico.cern.ch/event/543031/contributions/2921456/)",
               "off-the-shelf servers",
               "compressed and triggered before events are built", (WHOLE,)),
        System("DUNE DAQ (dfmodules)", NONE_FOUND, "", "", "", ()),
        System("DABC 2.11", NONE_FOUND + " of this version", "that of 2006: [as the forebears measured](forebears.md)",
               "the same machine, the same runs", "LMD files to LMD files",
               (Ours("dabc", "LMD to LMD, Eventloom", "LMD to LMD"),), (Ours("dabc", "LMD to LMD, DABC", "LMD to LMD"),)),
    ),
    "streaming": (
        System("EJFAT (ESnet, JLab)", "100 Gbit/s from Virginia to 40 nodes in California, results every 400 us, no loss",
               "April 2024, ESnet annual report, [real-time streaming](https://annualreports.es.net/?p=6669)",
               "FPGAs balance the load; Perlmutter, over 10,000 cores",
               "transport by FPGAs over a wide area; software only puts packets together", (LIVE_LOST, LIVE_LATENCY)),
        System("strax", "50 to 100 MB of raw data a second on a core",
               "[AxFoundation/strax](https://github.com/AxFoundation/strax), README", "not stated",
               "samples of pulses, of which strax finds the hits; ours begins with hits", (ONE_CORE, WHOLE, IN_MEMORY)),
        System("straxen", NONE_FOUND + " beside that of strax", "", "", "", ()),
        System("rustpix", "over 96 million hits/s",
               "[rustpix 1.4.1](https://pypi.org/project/rustpix/1.4.1/), README", "not stated",
               "what is counted is not stated; ours is on one core",
               (Ours("clusters", "reading alone, to epoch buffers", "reading"),
                Ours("clusters", "clustering alone", "clustering alone"),
                Ours("clusters", "the whole run, from the file to HDF5", "Timepix3 file to HDF5")),
               (Ours("clusters", "rustpix: reading alone", "reading"),
                Ours("clusters", "rustpix: clustering alone, abs", "clustering alone, abs"),
                Ours("clusters", "rustpix: clustering alone, grid", "clustering alone, grid (the same clusters as ours)"))),
    ),
}


def table(systems, results):
    lines = ["| system | published | hardware | what differs | Eventloom | theirs, measured here |", "|---|---|---|---|---|---|"]
    for system in systems:
        published = f"{system.published}; {system.source}" if system.source else system.published
        figures = ["; ".join(figure.text(results) for figure in of) for of in (system.ours, system.beside)]
        lines.append(f"| {' | '.join([system.name, published, system.hardware, system.differs, *figures])} |")
    return "\n".join(lines)


def origins(results):
    """Where and when the figures of the page were measured: those of one page may be of different machines."""
    used = dict.fromkeys(ours.measurement for systems in TABLES.values() for system in systems for ours in (*system.ours, *system.beside))
    by_machine = {}
    for result, name in ((results[name], name) for name in used if name in results):
        by_machine.setdefault(result.machine, []).append(f"`{name}` {result.date}")
    return "\n".join(f"- {machine}: {', '.join(names)}" for machine, names in by_machine.items())


def fill_systems(page, results):
    page = fill(page, "origins", origins(results))
    for name, systems in TABLES.items():
        page = fill(page, name, table(systems, results))
    return page
