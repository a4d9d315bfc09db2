# Functions of the job scripts (bash). Do not edit; settings are in cluster.conf.
# shellcheck shell=bash

say() { echo "$(date '+%F %T') job ${SLURM_JOB_ID-}: $*"; }
fail() { # with exit code 2, bad usage: such a job is not requeued
  say "$*" >&2
  exit 2
}

JOBS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=jobs/restarts.bash
source "$JOBS/restarts.bash"
# shellcheck source=jobs/cluster.conf
source "${CLUSTER_CONF:-$JOBS/cluster.conf}"

# submit_unless_in_job SBATCH_OPTIONS [ARGUMENTS...]: a script that is not started in a job submits itself, with the
# SBATCH_* of cluster.conf.
submit_unless_in_job() {
  local options=$1
  shift
  [ -z "${SLURM_JOB_ID-}" ] || return 0
  # shellcheck disable=SC2086 # a word each
  exec sbatch ${SBATCH_OPTIONS-} $options "$0" "$@"
}

prepare_job() {
  command -v "$EVENTLOOM" >/dev/null || fail "no program '$EVENTLOOM'; set EVENTLOOM in cluster.conf"
  # Number of threads of each builder.
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-${SLURM_CPUS_PER_TASK:-1}}
  # Otherwise hwloc, also in mpirun, looks for X displays at TCP ports 6000 to 6009, where MBS servers listen.
  export HWLOC_COMPONENTS=${HWLOC_COMPONENTS--gl}
  # Open MPI refuses root unless allowed twice.
  [ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  say "$SLURM_NTASKS ranks on $SLURM_JOB_NUM_NODES nodes ($SLURM_JOB_NODELIST), by $LAUNCHER"
}

# Whether mpirun is Hydra, of MPICH or Intel MPI, whose options differ from those of Open MPI.
is_hydra() { [[ $(mpirun --version 2>&1) != *"Open MPI"* ]]; }

# plan SOURCE RANKFILE [OPTIONS...]: asks `eventloom plan` for the roles of SOURCE on these nodes, with one rank per
# task of the job, and prints its reasons. Sets RANKS, RANKFILE (for mpirun with binding) and PLANNED, the planned
# options of `eventloom run` that are not among OPTIONS.
RANKS='' RANKFILE='' PLANNED=()
plan() {
  local words i
  words=(plan --nodes "$SLURM_JOB_NUM_NODES" --cores-per-node $((SLURM_NTASKS / SLURM_JOB_NUM_NODES)) --source "$1"
    --epochs-per-slice "$EPOCHS_PER_SLICE")
  if [ "$LAUNCHER" = mpirun ] && [ "$BIND" != none ] && ! is_hydra; then
    RANKFILE=$2
    words+=(--rankfile "$RANKFILE")
  fi
  shift 2
  "$EVENTLOOM" "${words[@]}"
  read -ra words < <("$EVENTLOOM" "${words[@]}" --json |
    /usr/bin/env python3 -c 'import json, sys; p = json.load(sys.stdin); print(p["ranks"], *p["run_options"])')
  RANKS=${words[0]}
  for ((i = 1; i < ${#words[@]}; i += 2)); do
    [[ " $* " == *" ${words[i]} "* ]] || PLANNED+=("${words[@]:i:2}")
  done
}

# Adds RANKFILE to mpirun's `command`. Open MPI 5 has a different option, and cannot parse a path with a hyphen.
add_rankfile() {
  if [[ $(mpirun --version) == "mpirun (Open MPI) 4."* ]]; then
    command+=(--rankfile "$RANKFILE")
  else
    exec 9<"$RANKFILE"
    command+=(--map-by rankfile:file=/dev/fd/9)
  fi
}

# Replaces the shell by mpirun or srun with the program and its arguments. Task k runs on node k mod nodes; since role k
# is on rank k mod ranks, every node has sources and builders. If the file RANK_NODES is set, task k runs on the node in
# its line k.
RANK_NODES=''
launch() {
  local cpus=${SLURM_CPUS_PER_TASK:-1} ranks=${RANKS:-$SLURM_NTASKS} command name
  if [ "$LAUNCHER" = srun ]; then
    # Ranks exit one by one at the end of a run; the first must not kill the others.
    command=(srun "--mpi=$SRUN_MPI" --ntasks="$ranks" "--cpus-per-task=$cpus" --kill-on-bad-exit=0)
    if [ -n "$RANK_NODES" ]; then
      export SLURM_HOSTFILE=$RANK_NODES
      command+=(--distribution=arbitrary)
    else
      command+=(--distribution=cyclic)
    fi
    [ "$BIND" = none ] || command+=(--cpu-bind=cores)
  elif is_hydra; then
    [ -z "$RANK_NODES" ] || fail "front ends on nodes of their own: this mpirun cannot place single ranks; set" \
      "LAUNCHER=srun in cluster.conf, with SRUN_MPI=pmi2 for MPICH or Intel MPI"
    # Hydra starts its daemons by srun: with PMIx there, Slurm's default on many clusters, MPICH does not start.
    export SLURM_MPI_TYPE=none
    command=(mpirun -n "$ranks" -ppn 1) # a rank on each node, and so on in a circle; it passes on the environment
    [ "$BIND" = none ] || command+=(-bind-to "core:$cpus")
  else
    command=(mpirun -np "$ranks")
    for name in $(compgen -e UCX_) OMP_NUM_THREADS; do command+=(-x "$name"); done
    if [ -n "$RANKFILE" ]; then
      add_rankfile
    elif [ -n "$RANK_NODES" ]; then
      command+=(--hostfile "$RANK_NODES" --map-by seq --bind-to none) # mpirun does not bind ranks that it maps so
    elif [ "$BIND" = none ]; then
      command+=(--map-by node --bind-to none)
    else
      command+=(--map-by "node:PE=$cpus" --bind-to core)
    fi
  fi
  exec "${command[@]}" "$EVENTLOOM" "$@"
}

# Handles SIGUSR1 (from Slurm, some time before the time limit) and SIGTERM. STOPPED_BY is the signal received.
STOPPED_BY='' signals=0 child='' at_usr1='' at_term='' repeating=''
trap 'signal_came USR1' USR1
trap 'signal_came TERM' TERM
signal_came() {
  STOPPED_BY=$1 signals=$((signals + 1))
  say "received SIG$1"
  pass_on
}
pass_on() {
  local signal=$at_usr1
  [ "$STOPPED_BY" != TERM ] || signal=$at_term
  if [ -z "$child" ] || [ -z "$signal" ]; then return 0; fi
  deliver "$signal" "$child"
  [ -z "$repeating" ] || return 0
  # Ranks that were still starting have missed the signal; repeating it does not affect the others.
  while sleep 10 && kill -0 "$child" 2>/dev/null; do deliver "$signal" "$child"; done &
  repeating=$!
}
deliver() {
  local receivers=$2
  [[ $1 != ranks:* ]] || receivers=$(local_ranks)
  # shellcheck disable=SC2086 # a word each
  kill "-${1#ranks:}" $receivers 2>/dev/null || true
}
# Prints the process ids of this job's ranks on this node.
local_ranks() {
  local mark=OMPI_COMM_WORLD_RANK file
  ! is_hydra || mark=PMI_RANK
  [ "$LAUNCHER" != srun ] || mark='PMIX?_RANK'
  # Processes of other users cannot be read, and some processes end meanwhile.
  { grep -lszE "^$mark=" /proc/[0-9]*/environ || true; } | while read -r file; do
    file=${file%/environ}
    if grep -qszx "SLURM_JOB_ID=$SLURM_JOB_ID" "$file/environ"; then echo "${file#/proc/}"; fi
  done
}

# run_stoppable AT_USR1 AT_TERM COMMAND...: runs the command and returns its exit code. AT_USR1 and AT_TERM are the
# signals forwarded to it, or empty: USR1 for mpirun and srun, which forward it to all ranks (TERM would end mpirun
# immediately); ranks:TERM goes directly to the ranks on this node, which notify the others.
run_stoppable() {
  local code seen watcher
  at_usr1=$1 at_term=$2
  shift 2
  "$@" & # in the background: bash heeds signals only while it waits
  child=$!
  "$JOBS/end_hung_mpirun.sh" "$child" 10 &
  watcher=$!
  [ -z "$STOPPED_BY" ] || pass_on
  while :; do
    seen=$signals code=0
    wait "$child" || code=$?
    [ "$seen" != "$signals" ] || break # else it was a signal that ended the wait
  done
  kill "$watcher" 2>/dev/null || true
  [ -z "$repeating" ] || kill "$repeating" 2>/dev/null || true
  child='' repeating=''
  return "$code"
}

# Appends the result of this attempt to HISTORY.
remember() {
  local attempt=$((${SLURM_RESTART_COUNT:-0} + 1))
  echo "$(date '+%F %T') job $SLURM_JOB_ID attempt $attempt: $* after $SECONDS s" | tee -a "$HISTORY"
}

# Prints how many attempts of this job have failed since the last attempt stopped cleanly.
failures_in_a_row() {
  awk -v job=" job $SLURM_JOB_ID " \
    'index($0, job) && / failed: / { n++ } / stopped by / { n = 0 } END { print n + 0 }' "$HISTORY"
}

# code_of_run COMMAND...: runs a command whose exit code may be that of a launcher and of ranks, which some launchers
# combine: a code that is none of the program's is replaced by the one in REPORT, if this command has written it.
REPORT=''
code_of_run() {
  local code=0 before reported
  before=$(stat -c %i.%Y "$REPORT" 2>/dev/null || true)
  "$@" || code=$?
  case $code in
    0 | 1 | 2 | 3 | 75) return "$code" ;;
  esac
  [ -n "$REPORT" ] && [ "$(stat -c %i.%Y "$REPORT" 2>/dev/null || true)" != "$before" ] || return "$code"
  reported=$(sed -n 's/^  "exit_code": \([0-9]*\),\{0,1\}$/\1/p' "$REPORT")
  return "${reported:-$code}"
}

# How often in a row run_or_requeue restarts a command that has died, before it requeues the job.
RESTARTS_IN_JOB=0
report_death() {
  remember "run died with exit code $1"
  say "restarting it in $2 s"
}

# run_or_requeue WHAT AT_USR1 AT_TERM COMMAND...: like run_stoppable, but returns only if the command has succeeded (0,
# or 3 with losses). Otherwise requeues the job, if that is useful, and ends it.
run_or_requeue() {
  local what=$1 code=0
  shift
  restart_dead "$RESTARTS_IN_JOB" 60 code_of_run run_stoppable "$@" || code=$?
  case $code in
    0 | 3)
      remember "$what finished"
      return "$code"
      ;;
    2 | 126 | 127)
      remember "$what refused with exit code $code"
      fail "$what was refused (exit code $code, see above); not requeued"
      ;;
  esac
  # Stopped by a signal: cleanly (75), or before the ranks could handle it (128 + signal).
  if [ -n "$STOPPED_BY" ]; then
    remember "$what stopped by SIG$STOPPED_BY with exit code $code"
  else
    remember "failed: $what ended with exit code $code"
  fi
  requeue
  exit 75
}

# The last element of an array has the job id of the whole array.
THIS_JOB=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
THIS_JOB=${THIS_JOB:-${SLURM_JOB_ID-}}

# Requeues this job, unless it is being cancelled (Slurm would requeue it nevertheless), was asked to end by SIGTERM, or
# has failed too often.
requeue() {
  local state
  state=$(scontrol show job -o "$THIS_JOB")
  if [[ $state != *JobState=RUNNING* && $state != *Reason=TimeLimit* ]]; then
    say "cancelled; submit it again to continue"
  elif [[ $STOPPED_BY = TERM && $state == *JobState=RUNNING* ]]; then
    say "ended by SIGTERM; submit it again to continue"
  elif [ "$(failures_in_a_row)" -ge "$MAX_FAILURES" ]; then
    say "failed $MAX_FAILURES times in a row; fix the cause, then submit it again to continue"
  elif [ "${SLURM_RESTART_COUNT:-0}" -ge "$MAX_RESTARTS" ]; then
    say "restarted $MAX_RESTARTS times; submit it again to continue"
  else
    say "requeued, to continue with --resume"
    scontrol requeue "$THIS_JOB" || say "Slurm did not requeue it; submit it again to continue"
  fi
}
