#!/usr/bin/env bash
# Measures what the READMEs claim, and writes tests/benchmarks/README.md; says what has changed since the last time.
# usage: tests/benchmarks/all.sh [NAME...] [--repeat N] [--list] [--dry-run]      after jobs/setup.sh --tests
# NAME: only these, see --list. Nothing else may run on the machine meanwhile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

case " $* " in
  *" --list "* | *" --dry-run "* | *" --help "* | *" -h "*) ;;
  *)
    cmake --build build --target eventloom >&2
    for target in benchmarks builder_cost; do
      cmake --build build --target "$target" >&2 || echo "all.sh: without $target, some are left out" >&2
    done
    ;;
esac
exec /usr/bin/python3 -B tests/benchmarks/all.py "$@"
