#!/usr/bin/env bash
# What safe writing costs, and how long it takes to resume behind 1, 10 and 100 times as much finished work.
# usage: tests/benchmarks/resume.sh [FOLDER]      (default build/resume-benchmark; 3 GB)
# environment: EVENTLOOM, the program (default build/eventloom); REPEAT, runs of each (default 7)
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export PATH=/usr/bin:/bin:$PATH
eventloom=${EVENTLOOM:-$here/build/eventloom}
repeat=${REPEAT:-7}
folder=${1:-$here/build/resume-benchmark}
mkdir -p "$folder"
cd "$folder"
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
seconds_of() { /usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["seconds"])' "$1"; }

# run FOLDER OPTIONS...: prints the seconds that a run takes.
run() {
  mpirun --oversubscribe -np 2 "$eventloom" run 'long/*.epochs' --define gap:25ns,4 --epochs-per-slice 1000 \
    --output "$1/run.h5" --force --report-json report.json "${@:2}" >run.log 2>&1
  seconds_of report.json
}

# safe_writing FOLDER: parts of 64 MiB beside one part for each writer.
safe_writing() {
  : >one.txt
  : >many.txt
  for _ in $(seq "$repeat"); do
    run "$1" --segment-size 1000GiB --segment-time 24h >>one.txt
    run "$1" --segment-size 64MiB >>many.txt
  done
  awk -v one="$(median <one.txt)" -v many="$(median <many.txt)" -v parts="$(find "$1" -name 'run.part-*.h5' | wc -l)" \
    'BEGIN {printf "one part a writer %.3f s, %d parts %.3f s: %+.1f %%\n", one, parts, many, 100 * (many / one - 1)}'
}

[ -d long ] || "$eventloom" generate --output long --sources 4 --rate 2e6 --duration 4s >/dev/null
echo "safe writing: 32 million hits, 2 ranks, medians of $repeat runs in turn"
figures=$(safe_writing .)
echo "  on disk:   $figures"
memory=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$memory"' EXIT
figures=$(safe_writing "$memory")
echo "  in memory: $figures"

# Prints the seconds from the start of a resumed run to its end, when it is stopped as soon as it has resumed.
resume() {
  local start end
  start=$(date +%s%N)
  coproc "$eventloom" run "$1/*.epochs" --define gap:25ns,4 --epochs-per-slice 10 --segment-size 256KiB \
    --output "$1.h5" --resume --speed 1e-9 2>&1
  local pid=$COPROC_PID
  while read -r line <&"${COPROC[0]}"; do
    case $line in *exchange:*) kill -USR1 "$pid" && break ;; esac
  done
  cat <&"${COPROC[0]}" >/dev/null
  wait "$pid" || [ $? = 75 ]
  end=$(date +%s%N)
  awk -v ns=$((end - start)) 'BEGIN {print ns / 1e9}'
}

echo "time to resume and stop again, one rank, medians of $repeat"
for duration in 1 10 100; do
  name=rec_$duration
  [ -d "$name" ] || "$eventloom" generate --output "$name" --sources 2 --rate 1e5 --duration "${duration}s" >/dev/null
  rm -f "$name".h5 "$name".part-*
  # Stopped when about four fifths are finished.
  "$eventloom" run "$name/*.epochs" --define gap:25ns,4 --epochs-per-slice 10 --segment-size 256KiB --output "$name.h5" \
    >run.log 2>&1 &
  until [ "$(find . -name "$name.part-*.h5" | wc -l)" -ge $((duration * 12)) ]; do sleep 0.01; done
  kill -USR1 $!
  wait $! || [ $? = 75 ]
  parts=$(find . -name "$name.part-*.h5" | wc -l)
  seconds=$(for _ in $(seq "$repeat"); do resume "$name"; done | median)
  awk -v d="$duration" -v parts="$parts" -v s="$seconds" 'BEGIN {printf "  %4d parts finished: %.3f s\n", parts, s}'
done
