#!/usr/bin/env bash
# Builds the fuzzers and runs each over its corpus; with a number of seconds also searches for so long, two targets at a time.
# usage: tests/fuzz/run_fuzzers.sh [SECONDS_PER_TARGET]
# SANITIZED_BUILD names another build folder than build-sanitizers, or for a search build-fuzzers.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
seconds=${1:-0}
search=${seconds#0}
source "$here/common.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
findings=$build/findings

# fuzz TARGET ARGUMENTS...: its log goes to a file; its findings are kept.
fuzz() {
  local target=$1
  shift
  mkdir -p "$findings/$target"
  run_target "$target" -artifact_prefix="$findings/$target/" "$@"
}

check_target() {
  local target=$1 log=$scratch/$1.log corpus=$scratch/$1
  if ! cp -r "$here/corpus/$target" "$corpus"; then
    echo "fuzz: FAILED $target: it has no corpus" >&2
    return 1
  fi
  # A limit of 0 would be none.
  if fuzz "$target" -runs=0 "$corpus" >"$log" 2>&1 &&
    { [ "$seconds" = 0 ] || fuzz "$target" -max_total_time="$seconds" "$corpus" >>"$log" 2>&1; }; then
    echo "fuzz: $target: $(grep -E '^Done' "$log" | tail -n 1)"
    return
  fi
  tail -n 50 "$log" >&2
  echo "fuzz: FAILED $target: $(grep -o "[^ ]*/findings/$target/.*" <(grep 'unit written to' "$log") || echo 'it kept no input')" >&2
  return 1
}

build_fuzzers
mapfile -t targets < <(target_names)
failed=0
running=0
for target in "${targets[@]}"; do
  if [ $running = 2 ]; then
    wait -n || failed=1
    running=1
  fi
  check_target "$target" &
  running=$((running + 1))
done
while [ $running != 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done
[ $failed = 0 ] || { echo "fuzz: FAILED, see above" >&2; exit 1; }
echo "fuzz: ${#targets[@]} targets are clean"
