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
# shellcheck source=jobs/restarts.bash
source "$here/restarts.bash"

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

child='' STOPPED_BY='' signals=0
# shellcheck disable=SC2317 # the traps call it
pass_on() {
  STOPPED_BY=$1 signals=$((signals + 1))
  [ -z "$child" ] || kill "-$1" "$child" 2>/dev/null || true
}
for signal in INT TERM USR1; do
  # shellcheck disable=SC2064 # the name of this signal
  trap "pass_on $signal" "$signal"
done

restarts=0
report_death() {
  restarts=$((restarts + 1))
  say "the run has died with exit code $1; restart $restarts in $2 s"
}

# Runs the command and returns its exit code. It is in the background, as bash heeds signals only while it waits (a
# signal ends the wait), and in its own process group, so that a Ctrl-C comes once, from here: mpirun takes two as an
# order to kill its ranks.
# shellcheck disable=SC2317 # restart_dead calls it
run() {
  local code seen watcher
  set -m
  "$@" </dev/null &
  set +m
  child=$!
  "$here/end_hung_mpirun.sh" "$child" "$HUNG_AFTER" &
  watcher=$!
  [ -z "$STOPPED_BY" ] || kill "-$STOPPED_BY" "$child" 2>/dev/null || true # it came before there was a child
  while :; do
    seen=$signals code=0
    wait "$child" || code=$?
    [ "$seen" != "$signals" ] || break
  done
  child=''
  { kill "$watcher" && wait "$watcher"; } 2>/dev/null || true
  return "$code"
}

code=0
restart_dead "$MOST_RESTARTS" "$LONGEST_PAUSE" run "$@" || code=$?
if [ -n "$STOPPED_BY" ]; then
  say "the run has ended with exit code $code, on SIG$STOPPED_BY"
elif [ "$DEATHS" -gt "$MOST_RESTARTS" ]; then
  say "the run has died $DEATHS times in a row, now with exit code $code; the same command continues it"
fi
exit "$code"
