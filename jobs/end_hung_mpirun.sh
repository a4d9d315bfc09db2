#!/usr/bin/env bash
# Kills an mpirun that hangs after its ranks have ended, so that its caller can restart the run. Open MPI 4.1 hangs now
# and then when a rank is killed while it connects: PMIx 4.2 then waits forever for a mutex (pmix_rte_finalize).
#
# usage: end_hung_mpirun.sh PROCESS SECONDS
#   PROCESS   id of mpirun, or of a shell that becomes it; this script ends with it
#   SECONDS   how long mpirun may live without child processes, after it has had some
set -euo pipefail
process=$1 patience=$2

is_mpirun() { grep -qsxE '(mpirun|mpiexec)(\..*)?|orterun|prterun' "/proc/$process/comm"; }

# Whether any child process lives; false where the kernel does not list them.
has_children() {
  local child children
  children=$(cat "/proc/$process"/task/*/children 2>/dev/null) || return 1
  for child in $children; do
    if grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$child/status"; then return 0; fi
  done
  return 1
}

had_children='' alone=0
while sleep 1 && kill -0 "$process" 2>/dev/null; do
  is_mpirun || continue
  if has_children; then
    had_children=yes alone=0
    continue
  fi
  alone=$((alone + 1))
  if [ -n "$had_children" ] && [ "$alone" -ge "$patience" ]; then
    echo "$(date '+%F %T') mpirun has hung for $alone s after the end of its ranks, and is killed" >&2
    kill -KILL "$process" || true
  fi
done
