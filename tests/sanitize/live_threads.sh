#!/usr/bin/env bash
# Builds and runs, under the thread sanitizer, the unit tests of all that starts threads beside the roles.
# usage: tests/sanitize/live_threads.sh [BUILD]      BUILD: a build with tests, by default build
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(realpath "${1:-$here/../../build}")

cmake --build "$build" --target live_threads_tests >"$build/live_threads.log" 2>&1 || {
  tail -n 40 "$build/live_threads.log" >&2
  echo "live_threads: the build failed" >&2
  exit 1
}
export TSAN_OPTIONS="suppressions=$here/threads.txt report_mutex_bugs=0 exitcode=66 history_size=5"

# expect_silence PROGRAM TESTS: the sanitizer makes a program that has a race end with 66.
failed=0
expect_silence() {
  echo "live_threads: $1 $2"
  timeout -k 5 300 "$build/tests/sanitize/live_threads_$1" --gtest_brief=1 --gtest_filter="$2" </dev/null || failed=1
}

expect_silence app_test 'Answers.*:AlarmCommand.*:Printed.*'
expect_silence core_tests 'ActivityTest.*:WatchdogTest.*'
expect_silence io_epochs_test 'FollowedEpochsTest.*'
expect_silence io_hdf5_tests 'PartWriterTest.*'
for program in io_live_test io_mbs_test io_serve_test io_trb_test io_udp_test; do expect_silence $program '*'; done
exit $failed
