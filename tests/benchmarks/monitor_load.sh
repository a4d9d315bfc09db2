#!/usr/bin/env bash
# What hundreds of hostile clients cost a run with the monitor: 2 ranks at full rate, in turn alone and beside clients
# that are idle, slow, greedy, mad or without the token (tests/support/http_load.py), on the same machine. Medians over
# runs; the events must be the same.
# usage: tests/benchmarks/monitor_load.sh [RUNS [CONNECTIONS]]      after jobs/setup.sh and whole_run.sh
# INPUT: other sources than build/benchmarks/10s/*.epochs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
runs=${1:-5}
connections=${2:-500}
port=18998
folder=build/benchmarks
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
rm -f "$folder"/load.*

# run NAME NUMBER CONNECTIONS
run() {
  mpirun -np 2 build/eventloom run --source "${INPUT:-$folder/10s/*.epochs}" --define gap:25ns,4 --force \
    --monitor "127.0.0.1:$port" --output "$folder/load.run.h5" --report-json "$folder/load.$1.$2.json" \
    >/dev/null 2>"$folder/load.log" &
  local run=$!
  [ "$3" = 0 ] || /usr/bin/python3 tests/support/http_load.py "$port" "$run" "$3" >"$folder/load.$1.$2.clients"
  wait "$run"
}

for ((i = 0; i < runs; ++i)); do
  run alone "$i" 0
  run loaded "$i" "$connections"
done

/usr/bin/python3 - "$folder" <<'PY'
import json, pathlib, statistics, sys
folder, rates, found = pathlib.Path(sys.argv[1]), {}, set()
for name in ("alone", "loaded"):
    reports = [json.loads(file.read_text()) for file in folder.glob(f"load.{name}.*.json")]
    rates[name] = statistics.median(report["hits_per_second"] for report in reports)
    found |= {(report["totals"]["hits_in"], report["totals"]["events"], len(report["commands"])) for report in reports}
    print(f"{name:8} {rates[name] / 1e6:8.1f} Mhits/s {100 * rates[name] / rates['alone'] - 100:+6.1f} %")
clients = [json.loads(file.read_text()) for file in folder.glob("load.loaded.*.clients")]
for key in sorted({key for client in clients for key in client}):
    print(f"  {key:24} {statistics.median(client.get(key, 0) for client in clients):14.1f}")
print("hits, events, commands:", *found)
assert len(found) == 1, "a run was not left alone"
PY
rm -f "$folder"/load.*
