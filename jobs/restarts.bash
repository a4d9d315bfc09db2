# Sourced by keep_running.sh and job_functions.sh, which define `report_death EXIT_CODE PAUSE` and set STOPPED_BY to the
# signal that is to end the command, empty while there is none.
# shellcheck shell=bash

# restart_dead MOST LONGEST COMMAND...: runs the command, and restarts it when it has died, up to MOST times in a row,
# after pauses of 1, 2, 4, ... and at most LONGEST seconds; a command that lived for a minute ends the row. A command
# has not died if it has ended (exit codes 0 and 3), was called wrongly at its first start (2, 126, 127), or was stopped
# by a signal. Returns the last exit code, and sets DEATHS to the length of the last row.
restart_dead() {
  local most=$1 longest=$2 code begun pause restarted=''
  shift 2
  DEATHS=0
  while :; do
    begun=$SECONDS code=0
    "$@" || code=$?
    case $code in
      0 | 3) return "$code" ;;
      2 | 126 | 127) [ -n "$restarted" ] || return "$code" ;;
    esac
    if [ -n "$STOPPED_BY" ]; then return "$code"; fi
    [ $((SECONDS - begun)) -lt 60 ] || DEATHS=0
    DEATHS=$((DEATHS + 1))
    if [ "$DEATHS" -gt "$most" ]; then return "$code"; fi
    pause=$((DEATHS > 6 ? 64 : 1 << (DEATHS - 1)))
    pause=$((pause < longest ? pause : longest))
    restarted=yes
    report_death "$code" "$pause"
    sleep "$pause" &
    wait $! || true
    if [ -n "$STOPPED_BY" ]; then return "$code"; fi
  done
}
