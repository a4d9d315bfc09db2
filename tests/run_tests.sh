#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: unit, mpi, system, fuzz, sanitize, style; one summary by ctest.
# usage: tests/run_tests.sh [CTEST_OPTIONS...]      e.g. -L unit, -R truth, -LE style
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH

jobs/setup.sh --tests

# Open MPI refuses root unless told twice.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
exec ctest --test-dir build --output-on-failure --parallel "$(nproc)" "$@" </dev/null
