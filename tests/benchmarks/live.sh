#!/bin/bash
# Live input on one machine: latency from hit to built event at 1 MHz of hits, and UDP at 200 MB/s.
#   tests/benchmarks/live.sh [RUNS]
# Prints one line a run and the medians. Senders, receivers and builders share the machine.
set -eu
cd "$(dirname "$0")/../.."
runs=${1:-5}
eventloom=$PWD/build/eventloom
folder=$(mktemp -d -p "${TMPDIR:-/dev/shm}")
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$folder"

# Waits, at most 20 s, until somebody listens at all the ports.
listening() {
  for port; do
    for _ in $(seq 200); do
      if grep -qi ":$(printf %04X "$port") " /proc/net/udp; then continue 2; fi
      sleep 0.1
    done
    echo "nobody listens at $port" >&2
    exit 1
  done
}

# live NAME NP RUN_OPTIONS...: a run in the background.
live() {
  local name=$1 np=$2
  shift 2
  rm -f run*.h5
  mpirun --oversubscribe -np "$np" "$eventloom" run --define gap:25ns,4 --output run.h5 --report-json "$name.json" "$@" \
    > "$name.out" 2> "$name.err" &
}

field() { python3 -c "import json, sys; r = json.load(open('$1.json')); print($2)"; }

"$eventloom" generate --output heavy --sources 2 --rate 500000 --hits 16 --payload 2 --noise 500000 --duration 1s > sent.out
echo "run  latency median, p99 [ms] np 1   np 2            hits lost at 200 MB/s np 2, of"
for run in $(seq "$runs"); do
  for np in 1 2; do
    live "latency$np" "$np" --source 'udp://:47100?sources=0,1,2,3' --flush-after 1ms --duration 5s
    listening 47100
    timeout 7 "$eventloom" generate --live --to udp://127.0.0.1:47100 --sources 4 --rate 62500 --noise 125000 --duration 0s \
      > sent.out 2>&1 || true
    wait %?mpirun || true
  done
  live rate 2 --source udp://:47101 --source udp://:47102
  listening 47101 47102
  "$eventloom" send heavy/*.epochs --to udp://127.0.0.1:47101 --to udp://127.0.0.1:47102 --speed 0 --bandwidth 200000000 > sent.out
  wait %?mpirun || true
  echo "$run $(field latency1 "r['latency']['p50_ns'] / 1e6, r['latency']['p99_ns'] / 1e6")" \
       "$(field latency2 "r['latency']['p50_ns'] / 1e6, r['latency']['p99_ns'] / 1e6")" \
       "$(field rate "r['totals']['hits_dropped']['lost'], r['totals']['hits_in'], r['seconds']")" | tr -d '(),' | tee -a lines
done
python3 - <<'P'
import statistics
columns = zip(*(map(float, line.split()[1:]) for line in open("lines")))
print("median", *("%.3f" % statistics.median(column) for column in columns))
P
