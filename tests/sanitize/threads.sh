#!/usr/bin/env bash
# Runs whole runs under the thread sanitizer: builders' OpenMP threads, the writer's thread, the watchdog.
# usage: tests/sanitize/threads.sh      THREADS_BUILD names another build folder than build-threads.
set -euo pipefail
export PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${THREADS_BUILD:-$root/build-threads}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Archer informs the sanitizer of what OpenMP's threads wait for.
export OMP_TOOL_LIBRARIES=/usr/lib/llvm-14/lib/libarcher.so OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive
export TSAN_OPTIONS="suppressions=$here/threads.txt report_mutex_bugs=0 exitcode=66 history_size=5"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

fail() {
  echo "threads: $1" >&2
  exit 1
}

# expect CODE NAME COMMAND...: 66 is the sanitizer's.
expect() {
  local code=$1 name=$2 found=0
  shift 2
  timeout -k 5 300 "$@" >"$scratch/log" 2>&1 </dev/null || found=$?
  if [ $found != "$code" ]; then
    tail -n 60 "$scratch/log" >&2
    fail "$name: exit code $found instead of $code"
  fi
  echo "threads: $name: exit code $code"
}

(cd "$root" && cmake --preset threads -B "$build") >/dev/null
cmake --build "$build" --target race_control eventloom

control=$build/tests/sanitize/race_control
expect 0 "no race" "$control" clean
expect 66 "a race on purpose, OpenMP" "$control" openmp
expect 66 "a race on purpose, std::async" "$control" async

eventloom=$build/eventloom
expect 0 "generate" "$eventloom" generate --output "$scratch/streams" --sources 3 --rate 20000 --timing poisson --hits 8 \
  --width 50ns --noise 100000 --duration 100ms --payload 2 --seed 1
sources=()
for file in "$scratch"/streams/*.epochs; do sources+=(--source "file:$file"); done
run=("$eventloom" run "${sources[@]}" --define gap:60,4 --epochs-per-slice 3 --segment-size 1)
expect 0 "run, one process, four threads" "${run[@]}" --output "$scratch/one.h5"
expect 0 "run, two ranks, four threads each" mpirun --oversubscribe --bind-to none -np 2 "${run[@]}" --output "$scratch/two.h5"
echo "threads: no races but those on purpose"
