#!/usr/bin/env bash
# scipp, asked for a number of bins over times in ns since 1970, makes bins of 0, 256 or 1,024 ns instead of equal ones.
#
# Seen with scipp 26.8.0.
# Guess: event times as int64 or datetime64 in ns are exact in scipp, and hist(t=1000) or bin(t=1000) divides their range
# into 1,000 equal bins; 100,000 hits, one each ns, give 100 in each bin.
# Behaviour: the edges go through floating point, whose steps are 256 ns at today's times. Of bins of 100 ns, three of five
# are empty and the others have 256 hits; of bins of 1,000 ns, most have 1,024 hits. No hit is lost, and no warning given:
# the rate just seems to be modulated. With given edges, or a width for int64, all is exact; a width for datetime64 is
# refused.
# For users: give edges of the type of the times, made by whole numbers; or subtract the first time before.
#
# usage: findings/scipp_bins_timestamps_in_steps_of_256_ns.sh     needs python3 with venv and pip; exit code 0: as described
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install --no-compile scipp==26.8.0 "numpy<3"

env/bin/python - >seen <<'PYTHON'
import numpy as np
import scipp as sc

start = 1_700_000_000_000_000_000  # 2023-11-14
times = sc.array(dims=["event"], values=start + np.arange(100_000), unit="ns")
edges = sc.array(dims=["t"], values=start + np.arange(0, 100_001, 100), unit="ns")
epoch = sc.epoch(unit="ns")


def show(name, counts):
    hits, bins = np.unique(counts, return_counts=True)
    print(f"{name}:", ", ".join(f"{n} bins with {h:.0f} hits" for h, n in zip(hits, bins)))


for kind, time, given in ("int64", times, edges), ("datetime64", epoch + times, epoch + edges):
    hits = sc.DataArray(sc.ones(sizes=time.sizes, unit="counts"), coords={"t": time})
    show(f"{kind}, hist(t=1000)", hits.hist(t=1000).values)
    show(f"{kind}, bin(t=1000)", hits.bin(t=1000).bins.size().values)
    show(f"{kind}, hist(t=100)", hits.hist(t=100).values)
    show(f"{kind}, hist(t=edges)", hits.hist(t=given).values)
    try:
        show(f"{kind}, hist(t=100 ns)", hits.hist(t=sc.scalar(100, unit="ns")).values)
    except sc.DTypeError:
        print(f"{kind}, hist(t=100 ns): refused")
PYTHON
cat seen

# Seen on 2026-11-30:
cat >expected <<'END'
int64, hist(t=1000): 609 bins with 0 hits, 1 bins with 160 hits, 390 bins with 256 hits
int64, bin(t=1000): 609 bins with 0 hits, 1 bins with 160 hits, 390 bins with 256 hits
int64, hist(t=100): 9 bins with 768 hits, 1 bins with 928 hits, 90 bins with 1024 hits
int64, hist(t=edges): 1000 bins with 100 hits
int64, hist(t=100 ns): 1000 bins with 100 hits
datetime64, hist(t=1000): 609 bins with 0 hits, 1 bins with 160 hits, 390 bins with 256 hits
datetime64, bin(t=1000): 609 bins with 0 hits, 1 bins with 160 hits, 390 bins with 256 hits
datetime64, hist(t=100): 9 bins with 768 hits, 1 bins with 928 hits, 90 bins with 1024 hits
datetime64, hist(t=edges): 1000 bins with 100 hits
datetime64, hist(t=100 ns): refused
END
diff expected seen
echo "as described"
