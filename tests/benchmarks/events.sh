#!/usr/bin/env bash
# What corrected times and a coincidence of groups cost beside a gap: one recording, the process alone and 2 ranks, each
# kind of run in turn. Prints medians, and the share of the rate of the gap within the same turn, as Markdown.
# usage: tests/benchmarks/events.sh [RUNS]      after jobs/setup.sh; recording and output in memory (/dev/shm, 1 GB)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
runs=${1:-5}
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
folder=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$folder"' EXIT

# 4 sources of 1024 channels, 2 million hits/s of noise each beside 1 million events/s of 8 hits: 32 million hits.
build/eventloom generate --output "$folder/in" --sources 4 --rate 1e6 --noise 2e6 --duration 2s >/dev/null

# Every source and every channel has an offset of its own, and the sources are in two groups.
awk 'BEGIN {
  print "source,channel,offset_ns,group"
  for (s = 0; s < 4; ++s) {
    print s ",,," (s < 2 ? "A" : "B")
    for (c = 0; c < 1024; ++c) print s "," s * 4194304 + c "," 5 * s - 7 + c * 7 % 11 - 5 ","
  }
}' >"$folder/map.csv"

# run KIND TURN LAUNCHER -- OPTIONS...
run() {
  local report="$folder/$1.$2.json" launcher=()
  shift 2
  while [ "$1" != -- ]; do
    launcher+=("$1")
    shift
  done
  "${launcher[@]}" build/eventloom run --source "$folder/in/*.epochs" "${@:2}" --force --output "$folder/run.h5" \
    --report-json "$report" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
}

gap=(--define gap:25ns,4)
map=(--detector "$folder/map.csv")
condition='A>=2 && B>=2'
for ((i = 0; i < runs; ++i)); do
  for ranks in 1 2; do
    launcher=(env)
    [ "$ranks" = 1 ] || launcher=(mpirun -np "$ranks")
    run "gap.$ranks" "$i" "${launcher[@]}" -- "${gap[@]}"
    run "map.$ranks" "$i" "${launcher[@]}" -- "${map[@]}" "${gap[@]}"
    for length in 25ns 50ns; do
      run "$length.$ranks" "$i" "${launcher[@]}" -- "${map[@]}" --define "coincidence:$length,$condition"
    done
  done
done

/usr/bin/python3 - "$folder" "$runs" <<'PY'
import json, statistics, sys
folder, runs = sys.argv[1], int(sys.argv[2])
names = {"gap": "`gap:25ns,4`", "map": "the same, offsets of sources and channels from a map",
         "25ns": "`coincidence:25ns,A>=2 && B>=2`, groups and offsets from the map",
         "50ns": "`coincidence:50ns,A>=2 && B>=2`, likewise"}
print("| ranks | events | hits in events | million hits/s | of the gap's rate |\n|---|---|---|---|---|")
for ranks in (1, 2):
    reports = {kind: [json.load(open(f"{folder}/{kind}.{ranks}.{i}.json")) for i in range(runs)] for kind in names}
    for kind, name in names.items():
        rates = [report["hits_per_second"] for report in reports[kind]]
        share = statistics.median(rate / gap["hits_per_second"] for rate, gap in zip(rates, reports["gap"]))
        totals = reports[kind][0]["totals"]
        print(f"| {ranks} | {name} | {100 * totals['hits_in_events'] / totals['hits_in']:.0f} % | "
              f"{statistics.median(rates) / 1e6:.1f} | {100 * share:.0f} % |")
PY
