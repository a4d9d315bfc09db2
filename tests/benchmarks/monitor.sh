#!/usr/bin/env bash
# What looking at a run costs: 2 ranks at full rate, without telemetry, with progress, with the monitor, and with the
# monitor and a reader once a second, in turn. Medians over runs.
# usage: tests/benchmarks/monitor.sh [RUNS]      after jobs/setup.sh and whole_run.sh; writes below build/benchmarks
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
runs=${1:-9}
folder=build/benchmarks
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# run NAME NUMBER OPTIONS...
run() {
  local name=$1 number=$2
  shift 2
  mpirun -np 2 build/eventloom run --source "$folder/10s/*.epochs" --define gap:25ns,4 "$@" --force \
    --output "$folder/run.h5" --report-json "$folder/monitor.$name.$number.json" >/dev/null 2>"$folder/monitor.log"
}

for ((i = 0; i < runs; ++i)); do
  run none "$i" --progress none
  run progress "$i" --progress lines
  run monitor "$i" --monitor 127.0.0.1:18999
  run read "$i" --monitor 127.0.0.1:18999 &
  until build/eventloom top http://127.0.0.1:18999/ >/dev/null 2>&1 || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
  wait $!
done

/usr/bin/python3 - "$folder" <<'PY'
import json, pathlib, statistics, sys
rates = {}
for name in ("none", "progress", "monitor", "read"):
    files = pathlib.Path(sys.argv[1]).glob(f"monitor.{name}.*.json")
    rates[name] = statistics.median(json.loads(file.read_text())["hits_per_second"] for file in files)
    print(f"{name:10} {rates[name] / 1e6:8.1f} Mhits/s {100 * rates[name] / rates['none'] - 100:+6.1f} %")
PY
rm -f "$folder"/monitor.*
