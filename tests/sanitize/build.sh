#!/usr/bin/env bash
# Builds all that is built with the address and undefined-behaviour sanitizers: the program, unit and MPI tests, fuzzers.
# usage: tests/sanitize/build.sh [CMAKE_BUILD_OPTIONS...]      e.g. --target fuzzers
# SANITIZED_BUILD names another build folder than build-sanitizers. One at a time; a second one waits.
# FUZZ_SEARCH=ON: fuzzers for a search, which count branches.
set -euo pipefail
export PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${SANITIZED_BUILD:-$root/build-sanitizers}

fail_with_log() {
  tail -n 40 "$2" >&2
  echo "sanitize: $1; the whole log is $2" >&2
  exit 1
}

mkdir -p "$build"
exec 9>"$build/lock"
flock 9
(cd "$root" && cmake --preset sanitizers -B "$build" -DEVENTLOOM_FUZZ_SEARCH="${FUZZ_SEARCH:-OFF}") >"$build/configure.log" 2>&1 9>&- ||
  fail_with_log "cmake failed" "$build/configure.log"
cmake --build "$build" "$@" >"$build/build.log" 2>&1 9>&- || fail_with_log "the build failed" "$build/build.log"
