"""What the forebears have published: each figure once, with its source, for forebears.py. Today's systems: systems.py."""

from dataclasses import dataclass

KIB = 1024


@dataclass(frozen=True)
class Source:
    name: str
    hardware: str
    reference: str  # where the figures stand
    read: bool = True  # in the original; otherwise they are known only from quotations


DABC = Source(
    "DABC report: test chapter of the FutureDAQ demonstrator, GSI, 2006",
    "4 nodes, double Opteron, Mellanox MHES18-XT on PCIe, one MTS2400 switch: InfiniBand of 10 Gbit/s, which carries 1,000 bytes/us",
    "[linev/dabc](https://github.com/linev/dabc), `doc/test/test-fzk.tex` and `doc/test/test-udapl.tex` of 2008 to 2013 "
    "(commit 23448731)")
SPIKES = Source(
    "A spike transport suite, 2012", "10 Gbit Ethernet, Intel i7-2600",
    "no public copy found", read=False)
FPGA = Source(
    "An FPGA link study, 2023", "FPGA to FPGA, a link of 39.9 Gbit/s",
    "no public copy found", read=False)
INFINIBAND = Source(
    "D. Potter, an InfiniBand node-type for VILLASnode: master's thesis, RWTH Aachen, 2018",
    "two ConnectX-4 of 100 Gbit/s in one Dell T630 (2 Xeon E5-2643 v4), 0.5 m of copper, Fedora 27 tuned for latency",
    "[tables/mtu_performance.tex, chapters/conclusion.tex](https://git.dennispotter.eu/Dennis/masters-thesis)")
POLLING = Source(
    "An InfiniBand evaluation of polling modes", "InfiniBand, sends of 32 B", "no public copy of these two figures found", read=False)
RAPIDIO = Source(
    "K. Alexopoulos, ZeroMQ over RapidIO: diploma thesis, NTU Athens and CERN openlab, 2017",
    "RapidIO, 11.1 Gbit/s at best",
    "[Extending an asynchronous messaging library using an RDMA-enabled interconnect]"
    "(https://openlab-archive-iv-v.web.cern.ch/node/3645.html)", read=False)


def by_size(first, text):
    """Figures of messages of `first` KiB and each time twice as much."""
    return {first * KIB << n: float(figure) for n, figure in enumerate(text.split())}


# DABC: bytes/us that a node receives.
IBGOLD_SCHEDULED = by_size(1, "247 437 705 877 910 936 948 953 954")
IBGOLD_CHAOTIC = by_size(1, "273 524 776 889 923 937 947 953 954")
OFED_SCHEDULED = by_size(1, "264 490 700 788 835 866 875 879 880")
OFED_CHAOTIC = by_size(1, "309 536 688 788 838 868 878 881 882")
MESSAGES = {
    "all-to-all": by_size(1, "93 202 416 731 853 922 947 953"), "fixed-target": by_size(1, "165 292 539 713 828 891 923 938"),
    "one-to-all": by_size(1, "360 773 953 955 955 956 956 956"), "all-to-one": by_size(1, "374 615 968 971 972 972 972 972")}
RDMA = {
    "all-to-all": by_size(1, "110 214 424 788 888 941 951 954"), "fixed-target": by_size(1, "303 563 766 832 888 928 945 945"),
    "one-to-all": by_size(1, "194 389 950 953 954 955 956 956"), "all-to-one": by_size(1, "320 596 966 969 970 971 972 972")}
CHAOTIC_QUEUES = {
    11: by_size(1, "93 131 180 279 930 955 960 962"), 20: by_size(1, "142 168 490 909 948 957 959 962"),
    100: by_size(1, "266 551 755 839 907 938 967 959")}
VERBS_1_KIB = 365.0
WITH_CONTROL = 750.0  # of data, beside 10 % of control traffic, 8 KiB
MPI_BANDWIDTH = 952.75  # 1,000,000 bytes
MPI_LATENCY = 4.03  # us, 16 bytes
CLOCK_ROUND_TRIP = 29.0  # us
CLOCK_PRECISION = 0.5  # us
CLOCK_UNCORRECTED_10_S = 200.0  # us
CLOCK_CORRECTED_100_S = 2.0  # us, typically not more

# The spike transport suite.
SPIKE_RATE = 88.2  # million events/s
SPIKE_LATENCY = 371.0  # us, the lowest from end to end
SPIKES_DROPPED = {("burst", "5ms"): "under 1.5", ("burst", "7ms"): "under 1.5"}  # %, at 20 million events/s

# Small messages, us.
FPGA_ONE_WAY = {16: 0.77}
FPGA_RATE, FPGA_LINK = 37.3, 39.9  # Gbit/s, 4 KiB
SEND_ONE_WAY = {32: 0.83, KIB: 1.61, 4 * KIB: 2.28, 32 * KIB: 4.57}  # reliable connection, MTU of 4 KiB
WAITING = {"poll": 0.79, "sleep": 3.6}  # sleep: waiting for events
VILLAS = "median 1.7 us (high rates, small samples) to 4.9 us (low rates, large samples)"

# ZeroMQ over RapidIO.
RAPIDIO_RATE, RAPIDIO_LINK = 8.5, 11.1  # Gbit/s
RAPIDIO_BEST = "8 to 16 ring positions, cells of 4 to 32 MB"

NOT_COMPARED = (
    ("DABC, tables 9.3 and 9.4", "they list configuration files and addresses"),
    ("DABC, multicast (625 bytes/us at 2 KiB, 0.002 % lost)", "MPI has no multicast; Eventloom sends to each rank"),
    ("DABC, rate of single connections over time (about 50 % of variation at 1 KiB, before a change of firmware)",
     "the report does not define the variation; `bench patterns --plot` draws the same figure"),
    ("DABC, `MPI_Allreduce` (11.4 us, 4 processes), Presta, Pallas and dapltest", "they measure MPI and uDAPL, not event building"),
    ("DABC, section on XDAQ (60 us of latency over TCP, 5.5 us and 935 MB/s over uDAPL)", "it measures another framework"),
    ("spike transport suite: the tables themselves, and the other two emitters' figures",
     "no public copy found: only the four figures above are known"),
    ("FPGA link study: loop and round-trip times, all sizes but two", "no public copy found"),
    ("InfiniBand thesis: tables of missed steps by rate and size", "only the range of medians could be read; the plots are pictures"),
    ("InfiniBand thesis: service types UC and UD, inlining, size of the MTU", "settings of the adapter, which MPI hides"),
    ("ZeroMQ over RapidIO: clients and breakdown in figures", "only the rate and the best ring are known"),
)
