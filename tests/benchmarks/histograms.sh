#!/usr/bin/env bash
# What histograms cost: one rank, output in memory, a map with gains and two conditions on values, with and without five
# histograms, run alternately. Median rates and their ratio.
# usage: tests/benchmarks/histograms.sh [RUNS]      after jobs/setup.sh; writes below build/benchmarks and /dev/shm
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
runs=${1:-5}
folder=build/benchmarks/payload
mkdir -p "$folder"
memory=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$memory"' EXIT
[ -e "$folder/truth.csv" ] || build/eventloom generate --output "$folder" --sources 4 --rate 1e6 --duration 1s --payload 1 \
  --force >/dev/null
printf 'source,channel,gain,zero,unit\n,,0.25,1,keV\n' >"$folder/map.csv"

# rate NAME OPTIONS...: appends the rate of a run to a file.
rate() {
  local name=$1
  shift
  OMP_NUM_THREADS=1 build/eventloom run "$folder/*.epochs" --detector "$folder/map.csv" --group A=channel:0-511 \
    --group B=channel:512-1023 --define 'coincidence:50ns,A{0..1e9}>=1 && max(B)>=0' "$@" --force --quiet \
    --output "$memory/run.h5" --report-json "$memory/report.json" >/dev/null
  /usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["hits_per_second"])' "$memory/report.json" \
    >>"$memory/$name"
}

for ((i = 0; i < runs; ++i)); do
  rate without
  rate with --hist 'e=value(A):0..2e9/4096' --hist 'd=dt(A,B):-100..100/200' --hist 'n=n_hits:0..50/50' \
    --hist 'c=channel:0..1024/1024' --hist 'm=value(A):0..1e9/64;value(B):0..1e9/64'
done
/usr/bin/python3 - "$memory" <<'P'
import statistics, sys
rates = {name: statistics.median(map(float, open(f"{sys.argv[1]}/{name}"))) / 1e6 for name in ("without", "with")}
print(f"without histograms {rates['without']:.1f} million hits/s, with five {rates['with']:.1f}: "
      f"{100 * rates['with'] / rates['without']:.0f} %")
P
