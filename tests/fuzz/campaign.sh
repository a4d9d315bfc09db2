#!/usr/bin/env bash
# A long run of one fuzzer, with a corpus that grows outside of the repository, or its way back into it.
# usage: tests/fuzz/campaign.sh TARGET SECONDS [CORPUS_DIR]
#        tests/fuzz/campaign.sh --minimise TARGET [CORPUS_DIR]
# The first fuzzes from the inputs in CORPUS_DIR and in corpus/TARGET, and adds to CORPUS_DIR those that reach
# something new. The second puts into corpus/TARGET the fewest inputs of both that reach the same code.
# SANITIZED_BUILD names another build folder than build-fuzzers.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
search=1
source "$here/common.sh"

minimise=
if [ "${1-}" = --minimise ]; then
  minimise=1
  shift
fi
[ $# -ge $((minimise ? 1 : 2)) ] || fail "usage: campaign.sh TARGET SECONDS [CORPUS_DIR] | --minimise TARGET [CORPUS_DIR]"
target=$1
[ -n "$minimise" ] || { seconds=$2 && shift; }
corpus=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/eventloom-fuzz/$target}
kept=$here/corpus/$target

build_fuzzers
[ -n "$(max_bytes_of "$target")" ] || fail "no target '$target'; there are: $(target_names | tr '\n' ' ')"
mkdir -p "$corpus" "$kept"

if [ -n "$minimise" ]; then
  merged=$(mktemp -d)
  trap 'rm -rf "$merged"' EXIT
  # Without counters: how often a line runs does not keep an input.
  run_target "$target" -merge=1 -use_counters=0 "$merged" "$kept" "$corpus"
  find "$kept" -type f -delete
  cp "$merged"/* "$kept"
  echo "fuzz: corpus/$target: $(find "$kept" -type f | wc -l) inputs, $(du -b --summarize "$kept" | cut -f 1) bytes"
  exit
fi

log=$corpus.log
echo "fuzz: $target for $seconds s, log $log"
TIMEFORMAT='%U %S'
cpu=$({ time run_target "$target" -max_total_time="$seconds" -artifact_prefix="$corpus." "$corpus" "$kept" \
  >"$log" 2>&1 || echo failed >>"$log"; } 2>&1 | awk '{ print $1 + $2 }')
awk -v target="$target" -v cpu="$cpu" '/stat::number_of_executed_units/ { n = $2 }
  END { printf "fuzz: %s: %d executions, %.0f s of CPU time\n", target, n, cpu }' "$log"
if [ "$(tail -n 1 "$log")" = failed ]; then
  grep 'Test unit written to' "$log" >&2 || true
  fail "$target found something; the whole log is $log"
fi
