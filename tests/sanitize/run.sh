#!/usr/bin/env bash
# Runs the unit tests, the MPI tests on few ranks and small runs of the program, all built with the address and
# undefined-behaviour sanitizers. The first finding of a process ends it, and its test fails.
# usage: tests/sanitize/run.sh [CTEST_OPTIONS...]      e.g. -L mpi, -R core_tests
# SANITIZED_BUILD names another build folder than build-sanitizers.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export SANITIZED_BUILD=${SANITIZED_BUILD:-$here/../../build-sanitizers}
"$here/build.sh"

# The tools around runs are built without sanitizers.
tools=$(realpath -m "$here/../../build/eventloom-tools")
[ ! -x "$tools" ] || export EVENTLOOM_GENERATOR=$tools

export UBSAN_OPTIONS=print_stacktrace=1
# The program handles SIGBUS itself.
export ASAN_OPTIONS=handle_sigbus=0:detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1
export LSAN_OPTIONS=suppressions=$here/leaks.txt:print_suppressions=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec ctest --test-dir "$SANITIZED_BUILD" --output-on-failure --no-tests=error --parallel "$(nproc)" "$@" </dev/null
