#!/usr/bin/env bash
# Determines by simulation which schedule an event-building network of many nodes needs. Writes tables, reports and
# pictures to a folder: the study of schedulers/README.md. Existing results are not simulated again.
# usage: jobs/network_study.sh [FOLDER [NODES]]      (study, 64: 256 and 1024 take minutes to hours)
set -euo pipefail
built=$(dirname "${BASH_SOURCE[0]}")/../build/eventloom
[ -x "$built" ] || built=eventloom
eventloom=${EVENTLOOM:-$built}
folder=${1:-study}
most=${2:-64}
mkdir -p "$folder"

# Topologies by number of nodes: full trees, trees with half of the links up, and groups of routers.
declare -A full=([16]='2;4,4;1,4;1,1' [64]='2;8,8;1,8;1,1' [256]='2;16,16;1,16;1,1' [1024]='2;32,32;1,32;1,1')
declare -A half=([16]='2;4,4;1,2;1,1' [64]='2;8,8;1,4;1,1' [256]='2;16,16;1,8;1,1' [1024]='2;32,32;1,16;1,1')
declare -A groups=([16]='2,2;2,1;2,1;2' [64]='4,2;2,2;4,1;2' [256]='8,2;2,2;8,1;2' [1024]='16,2;2,2;16,1;2')
orders=(--schedule round-robin --schedule chaotic --schedule balanced --schedule unshifted)
all=("${orders[@]}" --slot 0,auto)
shifts=(--schedule round-robin --schedule chaotic --slot 0,auto)

# simulate NAME OPTIONS...: writes NAME.txt, NAME.json and NAME.svg, unless NAME.txt exists.
simulate() {
  local name=$folder/$1
  shift
  [ -e "$name.txt" ] && return
  local begun=$SECONDS
  rm -f "$name.svg"
  "$eventloom" simulate "$@" --report-json "$name.json" --plot "$name.svg" >"$name.part" 2>"$name.log" || {
    tail -n 1 "$name.log" >&2
    exit 1
  }
  mv "$name.part" "$name.txt"
  echo "study: ${name##*/} took $((SECONDS - begun)) s"
}

# The demonstrator of 2006: 4 nodes, InfiniBand, 1 GB/s.
simulate demonstrator --nodes 4 --link 8Gbit,3us --sizes 1KiB,4KiB,16KiB,64KiB,256KiB --slices 200 \
  --message-cost 1200ns --schedule round-robin --schedule chaotic

for nodes in 16 64 256 1024; do
  [ "$nodes" -le "$most" ] || continue
  at=(--nodes "$nodes" --link 100Gbit,1us)
  slices=$((nodes > 256 ? 1 : nodes > 64 ? 2 : 8))
  simulate "full-$nodes" "${at[@]}" --topology "fat-tree:${full[$nodes]}" "${all[@]}" --sizes 256KiB --slices $slices
  simulate "half-$nodes" "${at[@]}" --topology "fat-tree:${half[$nodes]}" "${all[@]}" --sizes 256KiB --slices $slices
  simulate "dragonfly-$nodes" "${at[@]}" --topology "dragonfly:${groups[$nodes]}" "${all[@]}" --sizes 256KiB \
    --slices $slices
done

# Message sizes, ring depths and disturbances, with 64 nodes.
at=(--nodes 64 --link 100Gbit,1us --topology "fat-tree:${full[64]}")
simulate sizes "${at[@]}" "${all[@]}" --sizes 4KiB,16KiB,64KiB,256KiB,1MiB,4MiB --slices 4
for depth in 1 2 4 8 32; do
  simulate "rings-$depth" "${at[@]}" "${shifts[@]}" --sizes 256KiB --ring-depth $depth
done
for message in 528000 1MiB; do # rings that hold less than a message, and those by the rule
  simulate "small-rings-$message" "${at[@]}" "${shifts[@]}" --sizes $message --ring-depth 4 --cell-size 64KiB
  simulate "rings-$message" "${at[@]}" "${shifts[@]}" --sizes $message
done
for flight in 1 2 4 16; do
  simulate "flight-$flight" "${at[@]}" "${shifts[@]}" --sizes 256KiB --slices-in-flight $flight
done
for jitter in 0 1 10; do
  simulate "jitter-$jitter" "${at[@]}" "${orders[@]}" --slot 0,auto,32us,36us,44us --sizes 256KiB --jitter $jitter
done
simulate slow-node "${at[@]}" "${all[@]}" --sizes 256KiB --build-rate 40GB --slow-builder 5:4
simulate slow-link "${at[@]}" "${all[@]}" --sizes 256KiB --slow-link 5:0.5
simulate clocks "${at[@]}" "${shifts[@]}" --sizes 256KiB --clock-drift 20 --clock-noise 500ns
