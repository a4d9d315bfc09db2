#!/usr/bin/env bash
# The main job: replays a recording of a neutrino telescope, 69 sources, over several ranks, builds
# events, writes them to HDF5, merges the parts, and reads the result with plain h5py.
# usage: jobs/main_job.sh [OUTPUT_FOLDER]      (default build/main-job, emptied first)
# environment: NP, number of ranks (default 4)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
output=$(realpath -m "${1:-$here/../build/main-job}")
cd "$here/.."
# shellcheck source=jobs/paths.sh
source jobs/paths.sh

jobs/setup.sh --run

if [ $# = 0 ]; then
  rm -rf "$output"
elif [ -n "$(ls -A "$output" 2>/dev/null)" ]; then
  echo "main job: $output is not empty; name a new folder" >&2
  exit 2
fi
mkdir -p "$output"

# Otherwise hwloc, also in mpirun, looks for X displays at TCP ports 6000 to 6009, where MBS servers listen.
export HWLOC_COMPONENTS=${HWLOC_COMPONENTS--gl}
# Open MPI refuses root unless allowed twice.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

recording=tests/data/km3net_orca4/orca4_run6884.h5
echo "main job: events of $recording, at least 4 hits, each at most 25 ns after the one before"
launch=(mpirun -np "${NP:-4}")
[[ $(mpirun --version 2>&1) != *"Open MPI"* ]] || launch+=(--oversubscribe) # MPICH and Intel MPI need no permission
"${launch[@]}" build/eventloom run \
  --source "hdf5:$recording?group=/dom_*&time=time&channel=channel&payload=tot&unit=ns" \
  --define gap:25ns,4 --builders 2 --filters 1 \
  --output "$output/run.h5" --report-json "$output/report.json"
build/eventloom merge "$output/run.h5" --output "$output/merged.h5"

echo "main job: reading $output/merged.h5"
script='import h5py
f = h5py.File("merged.h5")
print(len(f["events/time"]), "events; hits of the first:", f["hits/time"][:f["events/first_hit"][1]])'
sed 's/^/>>> /' <<<"$script"
cd "$output"
"$(python_with h5py)" -c "$script"
