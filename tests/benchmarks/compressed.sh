#!/usr/bin/env bash
# Compressed output: CPU time (user and system) and bytes of runs and merges with and without --compress 1, and of merging
# compressed parts; medians. With another build's program, the same by that one, in turn.
# usage: tests/benchmarks/compressed.sh [RUNS [OTHER_EVENTLOOM]]     after jobs/setup.sh; writes below build/benchmarks
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
runs=${1:-5}
programs=(build/eventloom ${2:+"$2"})
folder=build/benchmarks
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir -p "$folder"
[ -e "$folder/words/truth.csv" ] || build/eventloom generate --output "$folder/words" --sources 4 --rate 1e6 --noise 2e6 \
  --duration 1s --payload 1 --force >/dev/null

# measure NAME OUTPUT COMMAND...: by each program in turn
measure() {
  local name=$1 output=$2 program
  shift 2
  rm -f "$folder"/cpu.* "$folder"/bytes.*
  for ((i = 0; i < runs; ++i)); do
    for p in "${!programs[@]}"; do
      program=${programs[p]}
      rm -f "$folder/$output".*
      /usr/bin/time -a -o "$folder/cpu.$p" -f '%U %S' "$program" "$@" --output "$folder/$output.h5" >/dev/null 2>&1
      cat "$folder/$output".*h5 | wc -c >"$folder/bytes.$p"
    done
  done
  for p in "${!programs[@]}"; do
    /usr/bin/python3 - "$name" "${programs[p]}" "$folder/cpu.$p" "$(<"$folder/bytes.$p")" <<'PY'
import statistics, sys
cpu = statistics.median(sum(map(float, line.split())) for line in open(sys.argv[3]))
print(f"{sys.argv[1]:36} {cpu:6.2f} s of CPU {int(sys.argv[4]) / 1e6:7.1f} MB  {sys.argv[2]}")
PY
  done
}

measure "run" plain run "$folder/words/*.epochs" --define gap:25ns,4
measure "run --compress 1" packed run "$folder/words/*.epochs" --define gap:25ns,4 --compress 1
measure "merge" merged merge "$folder/plain.h5"
measure "merge --compress 1" merged merge "$folder/plain.h5" --compress 1
measure "merge --compress 0 of compressed" merged merge "$folder/packed.h5" --compress 0
