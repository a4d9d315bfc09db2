#!/usr/bin/env bash
# What the monitor costs in instructions, which no load of the machine changes: a run on one rank, reading, building and
# writing, without telemetry and with the monitor, from the first slice to the last, for recordings of several lengths.
# Three parts are told apart, as a run under valgrind takes some 50 times as long:
#   by the clock: reports and snapshots once a second, as instructions a second
#   bounded by time: histograms and channels, 0.5 % of a writer's time after the first 0.1 s, by the clock of its thread
#   the rest: what every hit costs, as instructions a hit
# usage: tests/benchmarks/monitor_instructions.sh      needs valgrind; writes below build/benchmarks
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=build/benchmarks/instructions
lengths=(100 200 400)
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir -p "$folder"

# run LENGTH OPTIONS...
run() {
  local length=$1
  shift
  "${under[@]}" build/eventloom run --source "$folder/$length/*.epochs" --define gap:25ns,4 --progress none "$@" --force \
    --output "$folder/run.h5" --report-json "$folder/report.json" >/dev/null 2>&1
}

# counted NAME LENGTH OPTIONS...
counted() {
  local name=$1 length=$2
  shift 2
  under=(valgrind --tool=callgrind --callgrind-out-file="$folder/callgrind")
  run "$length" "$@"
  callgrind_annotate --inclusive=yes --threshold=100 "$folder/callgrind" >"$folder/$name.$length.txt"
  mv "$folder/report.json" "$folder/$name.$length.json"
}

for length in "${lengths[@]}"; do
  [ -e "$folder/$length/truth.csv" ] || build/eventloom generate --output "$folder/$length" --sources 4 --rate 1e6 \
    --noise 2e6 --duration "${length}ms" --force >/dev/null
  counted none "$length"
  counted monitor "$length" --monitor 0
done
under=()
run "${lengths[-1]}"

/usr/bin/python3 - "$folder" "${lengths[@]}" <<'PY'
import json, pathlib, re, sys
import numpy
folder, lengths = pathlib.Path(sys.argv[1]), sys.argv[2:]
BY_CLOCK = ("eventloom::Telemetry::do_work(", "eventloom::RunView::turn(")

def of(name, length):
    text = (folder / f"{name}.{length}.txt").read_text()
    def inclusive(what):
        found = re.search(rf"^ *([\d,]+) \(.*?\)  \S*?:?{re.escape(what)}", text, re.MULTILINE)
        return int(found[1].replace(",", "")) if found else 0
    report = json.loads((folder / f"{name}.{length}.json").read_text())
    return (report["totals"]["hits_in"], report["seconds"], inclusive("eventloom::RankRun::work("), sum(map(inclusive, BY_CLOCK)),
            inclusive("eventloom::WatchedSink::picture("))

def slope(hits, instructions):
    return numpy.polyfit(hits, instructions, 1)[0]

hits, _, without, *_ = numpy.array([of("none", length) for length in lengths], float).T
_, seconds, total, by_clock, bounded = numpy.array([of("monitor", length) for length in lengths], float).T
assert all((part > 0).all() for part in (without, total, by_clock, bounded)), "a function has another name"
a_hit, more = slope(hits, without), slope(hits, total - by_clock - bounded)
rate = json.loads((folder / "report.json").read_text())["hits_per_second"]
a_second = (by_clock / seconds).max()
print(f"a hit, without the monitor: {a_hit:.1f} instructions")
print(f"a hit, with it:             {more:.1f}, {100 * more / a_hit - 100:+.2f} %")
print(f"by the clock:               {a_second / 1e6:.2f} million a second, {100 * a_second / (a_hit * rate):.2f} % at {rate / 1e6:.0f} million hits/s")
print("bounded by time:            0.50 %, and 0.1 s once")
print(f"together:                   {100 * more / a_hit - 99.5 + 100 * a_second / (a_hit * rate):.2f} %")
PY
rm -rf "$folder"/run.* "$folder"/report.json "$folder"/callgrind "$folder"/{none,monitor}.*
