#!/usr/bin/env bash
# List-mode data through the whole program: LMD to HDF5 on one and two ranks, and from there to LMD. 1 GB in a million
# events of 1 KB, from the page cache to files on disk (fsync included); with FOLDER in memory, such as /dev/shm/x,
# without the disk. Medians over runs, seconds per GB.
# usage: tests/benchmarks/lmd_speed.sh [RUNS [FOLDER]]      after jobs/setup.sh; writes up to 3 GB
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
runs=${1:-5}
folder=${2:-build/benchmarks/lmd}
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir -p "$folder"

# A subevent of 249 words makes an event of 1024 bytes.
[ -e "$folder/in_0000.lmd" ] || /usr/bin/python3 - "$folder/in_0000.lmd" <<'PY'
import sys
import numpy
events, words = 1_000_000, 256
event = numpy.random.default_rng(1).integers(0, 2**32, words, dtype=numpy.uint32)
event[:7] = (2 * words - 4, 1 << 16 | 10, 1 << 16, 0, 2 * words - 12, 1 << 16 | 10, 7)
with open(sys.argv[1] + ".partial", "wb") as file:
    file.write(numpy.array([0x7FFFFFF4, 1 << 16 | 101, 0, 0, 0xFFFFFFFF, 8, 0, 0, 1, 0, 0, 0], "<u4").tobytes())
    for first in range(0, events, 10_000):
        block = numpy.tile(event, (10_000, 1))
        block[:, 3] = numpy.arange(first + 1, first + 10_001)
        file.write(block.astype("<u4").tobytes())
PY
[ ! -e "$folder/in_0000.lmd.partial" ] || mv "$folder/in_0000.lmd.partial" "$folder/in_0000.lmd"

# measure NAME COMMAND...: median wall time of the command over runs, per GB of input, least and greatest beside it.
measure() {
  local name=$1
  shift
  cat "$folder/in_0000.lmd" >/dev/null
  for ((i = 0; i < runs; ++i)); do
    /usr/bin/time -f %e -a -o "$folder/times" "$@" >/dev/null 2>&1
  done
  /usr/bin/python3 - "$name" "$folder/in_0000.lmd" "$folder/times" <<'PY'
import os, statistics, sys
gigabytes = os.path.getsize(sys.argv[2]) / 1e9
times = [float(line) / gigabytes for line in open(sys.argv[3])]
print(f"{sys.argv[1]:40} {statistics.median(times):6.2f} s/GB ({min(times):.2f} to {max(times):.2f})")
PY
  rm -f "$folder/times"
}

build=(build/eventloom run "lmd:$folder/in_0000.lmd" --define tag --force --progress none --output "$folder/run.h5")
measure "LMD to HDF5, 1 rank" "${build[@]}"
measure "LMD to HDF5, 2 ranks" mpirun -np 2 "${build[@]}"
measure "HDF5 to LMD, merge --to" build/eventloom merge "$folder/run.h5" --to "lmd:$folder/out" --force
measure "LMD to HDF5 on 2 ranks, merge --to LMD" bash -c '"$@" && build/eventloom merge '"$folder/run.h5 --to lmd:$folder/out --force" \
  build mpirun -np 2 "${build[@]}"
cmp <(tail -c +49 "$folder/in_0000.lmd") <(tail -c +49 "$folder/out_0000.lmd") && echo "the events are the same to the byte"
