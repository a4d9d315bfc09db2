#!/usr/bin/env bash
# List-mode data through the whole program: LMD to HDF5 on one and two ranks, to LMD with the payload there alone, from
# HDF5 to LMD, and two MBS servers combined. 1 GB in a million events of 1 KB, from the page cache to files on disk
# (fsync included); with FOLDER in memory, such as /dev/shm/x, without the disk; with `eatmydata` as BEFORE to the page
# cache alone. `cp` of the same file is what the kernel takes to read and write the bytes once. Medians over runs,
# seconds per GB: whole commands, and what `run` itself reports, which leaves out the start of MPI and the checksum of
# the input.
# usage: tests/benchmarks/lmd_speed.sh [RUNS [FOLDER [BEFORE]]]      after jobs/setup.sh; writes up to 3 GB
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
runs=${1:-5}
folder=${2:-build/benchmarks/lmd}
before=${3:-env}
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir -p "$folder"

tests/benchmarks/lmd_file.py "$folder/in_0000.lmd" 7

# median NAME FILE: of the seconds in FILE, per GB of input, least and greatest beside it.
median() {
  /usr/bin/python3 - "$1" "$folder/in_0000.lmd" "$2" "${3:-1}" <<'PY'
import os, statistics, sys
gigabytes = os.path.getsize(sys.argv[2]) * int(sys.argv[4]) / 1e9
times = [float(line) / gigabytes for line in open(sys.argv[3])]
print(f"{sys.argv[1]:48} {statistics.median(times):6.2f} s/GB ({min(times):.2f} to {max(times):.2f})")
PY
}

# measure NAME COMMAND...: wall time of the command, without what an earlier one has written to `written`.
measure() {
  local name=$1
  shift
  rm -f "$folder/times" "$folder/own"
  cat "$folder/in_0000.lmd" >/dev/null
  for ((i = 0; i < runs; ++i)); do
    rm -f "$folder"/$written
    /usr/bin/time -f %e -a -o "$folder/times" "$before" "$@" >"$folder/printed" 2>/dev/null
    sed -nE 's/^([0-9.]+) s, .*/\1/p' "$folder/printed" >>"$folder/own"
  done
  median "$name" "$folder/times"
  [ ! -s "$folder/own" ] || median "$name, by run itself" "$folder/own"
}

# Two servers that send as fast as a run of two ranks takes, on the same cores.
two_servers() {
  rm -f "$folder/own"
  for ((i = 0; i < runs; ++i)); do
    rm -f "$folder"/run*.h5
    for port in 47211 47212; do
      build/eventloom serve "$folder/in_0000.lmd" --port $port --once >/dev/null 2>&1 &
    done
    "$before" mpirun -np 2 build/eventloom run --source mbs://127.0.0.1:47211/transport --source mbs://127.0.0.1:47212/transport \
      --schedule balanced "${options[@]}" >"$folder/printed" 2>/dev/null
    wait
    sed -nE 's/^([0-9.]+) s, .*/\1/p' "$folder/printed" >>"$folder/own"
  done
  median "two MBS servers to HDF5, 2 ranks, by run itself" "$folder/own" 2
}

# One source on one machine: slices of 400 KB stay in a core's cache, and the rank without the source builds what the
# other cannot while it reads; rings of 2 MB keep both busy.
options=(--define tag --epochs-per-slice 25 --ring-depth 32 --progress none --output "$folder/run.h5")
written=copy.lmd
measure "cp" cp "$folder/in_0000.lmd" "$folder/copy.lmd"
rm -f "$folder/copy.lmd"
written='out*.lmd'
build=(build/eventloom run "lmd:$folder/in_0000.lmd" --force "${options[@]}")
measure "LMD to LMD, 2 ranks" mpirun -np 2 "${build[@]}" --builders 1 --also "lmd:$folder/out" --no-payload
rm -f "$folder"/{run*.h5,out*.lmd}
written='run*.h5'
measure "LMD to HDF5, 1 rank" "${build[@]}"
measure "LMD to HDF5, 2 ranks" mpirun -np 2 "${build[@]}" --schedule balanced
written='out*.lmd'
measure "HDF5 to LMD, merge --to" build/eventloom merge "$folder/run.h5" --to "lmd:$folder/out"
cmp <(tail -c +49 "$folder/in_0000.lmd") <(tail -c +49 "$folder/out_0000.lmd") && echo "the events are the same to the byte"
rm -f "$folder"/out*.lmd
two_servers
rm -f "$folder"/run*.h5 "$folder"/{times,own,printed}
