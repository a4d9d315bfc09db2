#!/bin/bash
# What depends on how much time the ranks get, so that no test judges it: ratios of figures of one run.
#   tests/benchmarks/ratios.sh [REPEATS]
set -eu
cd "$(dirname "$0")/../.."
repeats=${1:-5}
eventloom=$PWD/build/eventloom
folder=$(mktemp -d -p "${TMPDIR:-/tmp}")
trap 'rm -rf "$folder"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$folder"

# bench RANKS NAME OPTIONS...: its points in NAME.json.
bench() {
  local ranks=$1 name=$2
  shift 2
  mpirun --oversubscribe -np "$ranks" "$eventloom" bench "$@" --repeat "$repeats" --report-json "$name.json" > "$name.out"
}

for ranks in 2 4; do
  bench "$ranks" "slow$ranks" patterns --pattern all-to-all --schedule round-robin,balanced --sizes 4KiB --queue 4 \
    --slow-builder 0 --build-time 200us --seconds 0.02 --slices 5000
done
bench 2 latency latency --sizes 8 --count 2000 --wait yield,sleep
bench 2 clocks patterns --pattern all-to-all --schedule round-robin --sizes 1KiB --slot 200us --slices 2000

python3 - <<'P'
import json


def points(name):
    return json.load(open(f"{name}.json"))["points"]


for ranks in (2, 4):
    by_schedule = {point["schedule"]: point for point in points(f"slow{ranks}")}
    slow, *others = by_schedule["balanced"]["slices_of_builder"]
    mean = sum(others) / len(others)
    gain = by_schedule["round-robin"]["seconds"] / by_schedule["balanced"]["seconds"]
    print(f"{ranks} ranks, builder 0 half as fast: balanced gives it {slow / mean:.2f} of the others' slices (0.5 is just)"
          f" and is {gain:.2f} times as fast as round-robin")
trip = {point["wait"]: point["round_trip"]["p50_ns"] for point in points("latency")
        if (point["place"], point["kind"]) == ("local-trip", "message")}
print(f"a message there and back: asleep {trip['sleep'] / trip['yield']:.0f} times as long as polling")
(slots,) = points("clocks")
print(f"clocks: known to {slots['clocks'][1]['precision_ns'] / 200_000:.4f} of a slot of 200 us")
P
