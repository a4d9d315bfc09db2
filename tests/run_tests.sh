#!/usr/bin/env bash
# Installs what is missing, builds, and runs the tests; one summary by ctest. Without --all the quick tier: one build, unit,
# mpi and many system tests. With it everything: sanitizers, fuzzers, clang-tidy, a virtual cluster, long campaigns. One case
# of each test; EVENTLOOM_CASES=N: another number of cases (10000: all).
# usage: tests/run_tests.sh [--all] [CTEST_OPTIONS...]      e.g. -L unit, -R truth, --all -L fuzz
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=jobs/paths.sh
source jobs/paths.sh

tier=(-LE long)
unit_tests=ON
words=()
for word in "$@"; do
  if [ "$word" = --all ]; then
    tier=(-E '^system\.(setups|mutations|injection|live_campaign)$') # their campaigns do the same and more
    unit_tests=OFF # they are built and run with sanitizers: once is enough
  else
    words+=("$word")
  fi
done
EVENTLOOM_UNIT_TESTS=${EVENTLOOM_UNIT_TESTS:-$unit_tests} jobs/setup.sh --tests

export EVENTLOOM_CASES=${EVENTLOOM_CASES:-1}
# Open MPI refuses root unless told twice.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# Most tests wait for processes and disks much of the time. ctest's log has the output of tests that passed, too.
log=build/Testing/Temporary/LastTest.log
rm -f "$log"
code=0
ctest --test-dir build --output-on-failure --no-tests=error --parallel "$((4 * $(nproc)))" "${tier[@]}" "${words[@]}" </dev/null || code=$?
if [ -e "$log" ]; then
  python3 tests/support/retried.py "$log" || [ "$code" != 0 ] || code=1
fi
exit "$code"
