#!/usr/bin/env bash
# Restarts a live run within seconds whenever it dies. For a run without Slurm; live.sbatch restarts its own.
#
# usage: keep_running.sh COMMAND...     e.g. keep_running.sh mpirun -np 2 eventloom run ... --resume --output run.h5
#   COMMAND   a run with --resume, which continues where the one before ended, or a series of runs (--runs), which begins
#             the next run: 'eventloom merge --partial' saves what the dead run had finished
# environment:
#   MOST_RESTARTS    deaths in a row after which it gives up (default 10); a run that lived for a minute ends the row
#   HUNG_AFTER       seconds after which an mpirun without ranks counts as dead (default 10)
#   LONGEST_PAUSE    before a restart, in seconds (default 60): the pauses are 1, 2, 4, ... of them
#
# Its exit code is that of the last run. It does not restart a run that
#   - has ended (exit codes 0 and 3),
#   - was called wrongly or cannot open an input at its first start (2, 126, 127),
#   - was stopped by a signal (INT, TERM, USR1) that this script received, and passed on.
set -euo pipefail

MOST_RESTARTS=${MOST_RESTARTS:-10}
LONGEST_PAUSE=${LONGEST_PAUSE:-60}
HUNG_AFTER=${HUNG_AFTER:-10}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { echo "$(date '+%F %T') keep_running: $*" >&2; }
if [ $# = 0 ] || [ "$1" = --help ]; then
  sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  [ $# != 0 ] && exit 0
  exit 2
fi
if [[ " $* " != *" --resume "* && " $* " != *" --runs"[\ =]* ]]; then
  say "give the run --resume; otherwise it would start over instead of continuing (a series has --runs instead)"
  exit 2
fi

child='' stopped_by='' signals=0
pass_on() {
  stopped_by=$1 signals=$((signals + 1))
  [ -z "$child" ] || kill "-$1" "$child" 2>/dev/null || true
}
for signal in INT TERM USR1; do
  # shellcheck disable=SC2064 # the name of this signal
  trap "pass_on $signal" "$signal"
done

# Runs the command and sets `code`. In the background, as bash heeds signals only while it waits; a signal ends the wait. In
# a process group of its own, so that a Ctrl-C comes once, from here: mpirun takes two for an order to kill its ranks.
run() {
  local seen watcher
  set -m
  "$@" </dev/null &
  set +m
  child=$!
  "$here/end_hung_mpirun.sh" "$child" "$HUNG_AFTER" &
  watcher=$!
  [ -z "$stopped_by" ] || kill "-$stopped_by" "$child" 2>/dev/null || true # it came before there was a child
  while :; do
    seen=$signals code=0
    wait "$child" || code=$?
    [ "$seen" != "$signals" ] || break
  done
  child=''
  { kill "$watcher" && wait "$watcher"; } 2>/dev/null || true
}

deaths=0 restarts=0
while :; do
  begun=$SECONDS
  run "$@"
  case $code in
    0 | 3) exit "$code" ;;
    2 | 126 | 127) [ "$restarts" != 0 ] || exit "$code" ;;
  esac
  if [ -n "$stopped_by" ]; then
    say "the run has ended with exit code $code, on SIG$stopped_by"
    exit "$code"
  fi
  [ $((SECONDS - begun)) -lt 60 ] || deaths=0
  deaths=$((deaths + 1))
  if [ "$deaths" -gt "$MOST_RESTARTS" ]; then
    say "the run has died $deaths times in a row, now with exit code $code; the same command continues it"
    exit "$code"
  fi
  pause=$((deaths > 6 ? 64 : 1 << (deaths - 1)))
  pause=$((pause < LONGEST_PAUSE ? pause : LONGEST_PAUSE))
  restarts=$((restarts + 1))
  say "the run has died with exit code $code; restart $restarts in $pause s"
  sleep "$pause" &
  wait $! || true
  [ -z "$stopped_by" ] || exit "$code"
done
