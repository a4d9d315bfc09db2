#!/usr/bin/env bash
# Submits three dependent jobs: convert -> run -> merge. If one fails, the later ones are cancelled.
#
# usage: ./chain.sh SOURCE OUTPUT_FOLDER [OPTIONS...]     e.g. 'lmd:/data/run7/*.lmd?time=wr' run7 --filter 'n_hits>=8'
#   OPTIONS   of `eventloom run`; options of sbatch for all three in SBATCH_OPTIONS
# environment: as for replay.sbatch
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=jobs/job_functions.sh
source "$here/job_functions.sh"
[ $# -ge 2 ] || fail "usage: chain.sh SOURCE OUTPUT_FOLDER [OPTIONS...]"
source=$1 output=$2
mkdir -p "$output"

# Prints the id of the job.
submit() {
  local job
  # shellcheck disable=SC2086 # a word each
  job=$(sbatch --parsable --kill-on-invalid-dep=yes ${SBATCH_OPTIONS-} "$@")
  echo "${job%%;*}"
}
convert=$(submit "$here/convert.sbatch" "$source" "$output/recording")
run=$(MERGE=no submit "--dependency=afterok:$convert" "$here/replay.sbatch" "$output/recording" "$output" "${@:3}")
merge=$(submit "--dependency=afterok:$run" "$here/merge.sbatch" "$output/run.h5")
echo "convert $convert -> run $run -> merge $merge; see: squeue --me"
