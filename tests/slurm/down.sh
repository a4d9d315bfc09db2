#!/usr/bin/env bash
# Ends the Slurm that up.sh has started in FOLDER, with its jobs and all their processes, and removes the folder.
# usage: tests/slurm/down.sh FOLDER
set -euo pipefail
export PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH
[ $# = 1 ] || { echo "usage: down.sh FOLDER" >&2; exit 1; }
folder=$(realpath -m "$1")
export SLURM_CONF=$folder/slurm.conf
[ -e "$SLURM_CONF" ] || { echo "slurm down: no Slurm in $folder" >&2; exit 1; }

# The daemons and what runs in jobs: those that have our configuration and one of two other names in their environment.
processes() {
  local file pid
  grep -lszxF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ | while read -r file; do
    pid=${file#/proc/} pid=${pid%/environ}
    ! grep -qszE '^(SLURM_JOB_ID|VIRTUAL_SLURM_DAEMON)=' "$file" || echo "$pid"
  done
}

# Waits at most $1 seconds until the command after it succeeds.
wait_until() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.1
  done
}
no_jobs() { [ -z "$(timeout 5 squeue -h 2>/dev/null)" ]; }
no_processes() { [ -z "$(processes)" ]; }

if ! no_jobs; then
  timeout 5 scancel --user=root --quiet || true
  wait_until 12 no_jobs || echo "slurm down: some jobs did not end by themselves" >&2
fi
timeout 5 scontrol shutdown 2>/dev/null || true
kill "$(cat "$folder/munge/pid")" 2>/dev/null || true
if ! wait_until 5 no_processes; then
  # shellcheck disable=SC2046 # a word each
  kill -9 $(processes) 2>/dev/null || true
  wait_until 5 no_processes || echo "slurm down: cannot be killed: $(processes | tr '\n' ' ')" >&2
fi
rm -rf "$folder"
