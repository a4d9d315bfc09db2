#!/usr/bin/env bash
# Measures what the forebears published, and writes tests/benchmarks/forebears.md with its plots.
# usage: tests/benchmarks/forebears.sh [--quick] [--render] [--list] [--folder DIR]      after jobs/setup.sh
# --render: the page again, from the figures that were kept. Nothing else may run on the machine meanwhile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

case " $* " in
  *" --list "* | *" --render "* | *" --help "* | *" -h "*) ;;
  *) cmake --build build --target eventloom >&2 ;;
esac
exec /usr/bin/python3 -B tests/benchmarks/forebears.py "$@"
