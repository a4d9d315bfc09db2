#!/usr/bin/env bash
# Installs what is missing, builds, and runs the tests; one summary by ctest. Without --all the quick tier: one build, unit,
# mpi and many system tests. With it everything: sanitizers, fuzzers' inputs, clang-tidy, a virtual cluster, long campaigns.
# One case of each test; EVENTLOOM_CASES=N: another number of cases (10000: all).
# usage: tests/run_tests.sh [--all] [CTEST_OPTIONS...]      e.g. -L unit, -R truth, --all -L campaign
# System tests run in one session; with -R or -L campaign each of the chosen files runs alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=jobs/paths.sh
source jobs/paths.sh

left_out='one|long'
sessions='^$'
unit_tests=ON
words=()
for word in "$@"; do
  case $word in
    --all)
      # Unit tests and most MPI tests are built and run with sanitizers: once is enough.
      left_out=${left_out/%long/both}
      unit_tests=OFF
      continue
      ;;
    -R* | --tests-regex* | *campaign)
      left_out=${left_out/one/none}
      sessions='^system\.(quick|long)$'
      ;;
  esac
  words+=("$word")
done
EVENTLOOM_UNIT_TESTS=${EVENTLOOM_UNIT_TESTS:-$unit_tests} jobs/setup.sh --tests

export EVENTLOOM_CASES=${EVENTLOOM_CASES:-1}
# Open MPI refuses root unless told twice.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# What has ended in a session, which ctest shows only after its end, and only if it failed.
progress=build/system-tests/progress.txt
mkdir -p build/system-tests
: >"$progress"
tail -f "$progress" &
# Otherwise it would keep whoever reads the output waiting.
trap 'kill "$!" 2>/dev/null' EXIT
# ctest's log has the output of tests that passed, too.
log=build/Testing/Temporary/LastTest.log
rm -f "$log"
code=0
# Most tests wait for processes and disks much of the time.
ctest --test-dir build --output-on-failure --no-tests=error --parallel "$((4 * $(nproc)))" \
  -LE "^($left_out)\$" -E "$sessions" "${words[@]}" </dev/null || code=$?
if [ -e "$log" ]; then
  python3 tests/support/retried.py "$log" "$progress" || [ "$code" != 0 ] || code=1
  # sanitize.run is a ctest of its own, and the tier waits for it.
  sanitized=$(sed -nE 's/^.*Test +#[0-9]+: (\S+) \.+ +Passed +([0-9.]+) sec$/\2 s \1/p' "$log" | sort -rn | head -n 8)
  [ -z "$sanitized" ] || printf 'longest tests with sanitizers:\n%s\n' "$sanitized"
fi
exit "$code"
