#!/usr/bin/env bash
# Builds the working tree against MPICH and runs the tests of mpi/ and the main job with it: by 1, 2 and 4 ranks, stopped and
# resumed, with exit codes, in a small /dev/shm.
# usage: tests/roots/mpich.sh debian | VERSION [FOLDER [TEST_OPTIONS...]]     e.g. 5.0.2 /var/tmp/mpich -R exchange
#   debian    Debian's libmpich-dev, which must be installed
#   VERSION   of PyPI's package mpich, which brings its own UCX
#   FOLDER    where it is built (default: a temporary one, removed at the end); given again, it is used again
# Needs what jobs/setup.sh --tests installs. The last line says that all is good.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
clone=$(cd "$here/../.." && pwd)

fail() {
  echo "mpich.sh: $1" >&2
  exit "${2:-1}"
}
[ $# -ge 1 ] || fail "usage: tests/roots/mpich.sh debian | VERSION [FOLDER [TEST_OPTIONS...]]" 2
version=$1
if [ $# -ge 2 ]; then
  folder=$2
  mkdir -p "$folder"
  folder=$(cd "$folder" && pwd)
  shift 2
else
  folder=$(mktemp -d)
  trap 'rm -rf --one-file-system "$folder"' EXIT
  shift
fi

if [ "$version" = debian ]; then
  compiler=$(command -v mpicxx.mpich) || fail "MPICH is missing: apt-get install mpich libmpich-dev" 2
  mpiexec=$(command -v mpiexec.mpich)
else
  python3 -m venv "$folder/python"
  "$folder/python/bin/pip" install -q --prefix "$folder/mpich" "mpich==$version" >"$folder/pip.log" 2>&1 ||
    fail "PyPI does not give mpich $version, see $folder/pip.log"
  compiler=$folder/mpich/bin/mpicxx mpiexec=$folder/mpich/bin/mpiexec
  export LD_LIBRARY_PATH=$folder/mpich/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi

echo "mpich.sh: building in $folder/build"
cmake -S "$clone" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DEVENTLOOM_TESTS=ON \
  -DEVENTLOOM_UNIT_TESTS=OFF -DMPI_CXX_COMPILER="$compiler" -DMPIEXEC_EXECUTABLE="$mpiexec" >"$folder/configure.log" 2>&1 ||
  fail "cmake failed, see $folder/configure.log"
cmake --build "$folder/build" --target eventloom eventloom-view exchange_ranks_test clock_sync_test \
  collective_test heartbeat_test duplexes_test peers_test
eventloom=$folder/build/eventloom
"$eventloom" --version
"$eventloom" --version | grep -q '; MPICH ' || fail "this build is not of MPICH"

ctest --test-dir "$folder/build" --output-on-failure --no-tests=error -L '^mpi$' "$@"

# main_job NP NAME [OPTIONS...]: sets `words` to its command.
main_job() {
  local np=$1 name=$2
  shift 2
  words=("$mpiexec" -n "$np" "$eventloom" run
    "hdf5:$clone/tests/data/km3net_orca4/orca4_run6884.h5?group=/dom_*&time=time&channel=channel&payload=tot&unit=ns"
    --define gap:25ns,4 --builders 2 --filters 1 --output "$folder/$name.h5" --progress none "$@")
}
# run NP NAME [OPTIONS...]: runs it, with what it says in NAME.log, and returns its exit code.
run() {
  main_job "$@"
  "${words[@]}" >"$folder/$2.log" 2>&1
}
# expect CODE COMMAND...
expect() {
  local expected=$1 code=0
  shift
  "$@" || code=$?
  [ "$code" = "$expected" ] || fail "exit code $code instead of $expected of: $*"
}
merge() { "$eventloom" merge "$folder/$1.h5" --output "$folder/$1.merged.h5" --force >/dev/null; }

rm -f "$folder"/*.h5 # of an earlier call
for np in 1 2 4; do
  expect 0 run "$np" "np$np"
  grep -q '^2283 events' "$folder/np$np.log" || fail "not 2283 events, see $folder/np$np.log"
  merge "np$np"
  "$eventloom" compare "$folder/np1.merged.h5" "$folder/np$np.merged.h5" >/dev/null || fail "$np ranks build other events"
done

main_job 2 stopped --speed 0.05
"${words[@]}" >"$folder/stopped.log" 2>&1 &
until grep -qs 'exchange: ' "$folder/stopped.log"; do sleep 0.05; done
kill -USR1 "$!"
expect 75 wait "$!"
expect 0 run 2 stopped --resume
merge stopped
"$eventloom" compare "$folder/np1.merged.h5" "$folder/stopped.merged.h5" >/dev/null || fail "resumed, other events"

expect 2 run 2 usage --ring-depth 0
if unshare --mount --user --map-root-user true 2>/dev/null; then
  export -f main_job run
  export mpiexec eventloom clone folder
  expect 2 unshare --mount --user --map-root-user bash -c \
    'mount -t tmpfs -o size=64m tmpfs /dev/shm && run 2 small --ring-depth 64 --cell-size 4MiB'
  grep -q /dev/shm "$folder/small.log" || fail "no word on /dev/shm, see $folder/small.log"
  expect 0 unshare --mount --user --map-root-user bash -c 'mount -t tmpfs -o size=64m tmpfs /dev/shm && run 2 fits'
fi
for within_host in MPIR_CVAR_NOLOCAL=1 MPIR_CVAR_NUM_CLIQUES=2; do
  export "${within_host?}"
  expect 0 run 4 network --force
  unset "${within_host%=*}"
  merge network
  "$eventloom" compare "$folder/np1.merged.h5" "$folder/network.merged.h5" >/dev/null || fail "other events by $within_host"
done
echo "mpich.sh: MPICH $version: the tests and the main job are good"
