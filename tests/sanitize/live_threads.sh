#!/usr/bin/env bash
# Builds and runs, under the thread sanitizer, the unit tests of all that starts threads beside the roles.
# usage: tests/sanitize/live_threads.sh [BUILD]      BUILD: a build with tests, by default build
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(realpath "${1:-$here/../../build}")

cmake --build "$build" --target live_threads_test live_threads_files >"$build/live_threads.log" 2>&1 || {
  tail -n 40 "$build/live_threads.log" >&2
  echo "live_threads: the build failed" >&2
  exit 1
}
# The sanitizer makes a program that has a race end with 66.
export TSAN_OPTIONS="suppressions=$here/threads.txt report_mutex_bugs=0 exitcode=66 history_size=5"
# The sanitizer of gcc 12 does not start where the kernel places programs at too many addresses.
fixed=()
! setarch --addr-no-randomize true 2>/dev/null || fixed=(setarch --addr-no-randomize)
failed=0
for program in live_threads_files live_threads_test; do
  echo "live_threads: $program"
  timeout -k 5 600 "${fixed[@]}" "$build/tests/sanitize/$program" --gtest_brief=1 </dev/null || failed=1
done
exit $failed
