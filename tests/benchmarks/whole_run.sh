#!/usr/bin/env bash
# The whole program: 2 ranks, replay from page cache, HDF5 on disk (fsync included). Medians over runs, and the
# peak memory of a rank for recordings of 1 and 10 times the length.
# usage: tests/benchmarks/whole_run.sh [RUNS]      after jobs/setup.sh; writes below build/benchmarks
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
runs=${1:-5}
folder=build/benchmarks
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir -p "$folder"

# recording LENGTH: 4 sources, 2 million hits/s of noise each beside 1 million events/s of 8 hits.
recording() {
  [ -e "$folder/$1/truth.csv" ] || build/eventloom generate --output "$folder/$1" --sources 4 --rate 1e6 --noise 2e6 \
    --duration "$1" --force >/dev/null
}

# measure LENGTH OPTIONS...: median rate, hits in events, and peak memory of a rank.
measure() {
  local length=$1
  shift
  for ((i = 0; i < runs; ++i)); do
    mpirun -np 2 build/eventloom run --source "$folder/$length/*.epochs" "$@" --force --output "$folder/run.h5" \
      --report-json "$folder/report.$i.json" >/dev/null 2>&1
  done
  /usr/bin/python3 - "$length $*" "$folder"/report.*.json <<'PY'
import json, statistics, sys
reports = [json.load(open(name)) for name in sys.argv[2:]]
rate = statistics.median(r["hits_per_second"] for r in reports) / 1e6
memory = max(r["peak_rss_bytes"] for r in reports) / 1e6
totals = reports[0]["totals"]
print(f"{sys.argv[1]:55} {totals['hits_in']:>11} hits in {totals['hits_in_events']:>11} in events {rate:7.1f} Mhits/s {memory:6.0f} MB")
PY
  rm -f "$folder"/report.*.json
}

recording 1s
recording 10s
measure 1s --define gap:25ns,4
measure 10s --define gap:25ns,4
measure 10s --define gap:25ns,4 --filter 'n_hits>=12'
measure 10s --define multiplicity:50ns,6
