#!/usr/bin/env bash
# Tries HEAD of this clone in a bare root of a Debian release: the tests (tests/run_tests.sh), then, in a second bare
# root, the Debian package that was built in the first.
# usage: tests/roots/debian.sh RELEASE [FOLDER [TEST_OPTIONS...]]    e.g. trixie /var/tmp/trixie -L 'unit|mpi'
#   RELEASE   bookworm, trixie, ...
#   FOLDER    where the roots are made (default: a temporary one, removed at the end); given again, a root is used again
# Needs root's rights, debootstrap, and some 8 GB. MIRROR: of Debian packages (default: that of this machine).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
clone=$(cd "$here/../.." && pwd)

fail() {
  echo "debian.sh: $1" >&2
  exit 2
}
[ $# -ge 1 ] || fail "usage: tests/roots/debian.sh RELEASE [FOLDER [TEST_OPTIONS...]]"
[ "$(id -u)" = 0 ] || fail "only root can make roots"
command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
release=$1
if [ $# -ge 2 ]; then
  folder=$2
  mkdir -p "$folder"
  shift 2
else
  folder=$(mktemp -d)
  trap 'rm -rf --one-file-system "$folder"' EXIT
  shift
fi
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | head -n 1)}
mirror=${mirror:-http://deb.debian.org/debian}

# make_root NAME: with the fewest packages that Debian can have.
make_root() {
  local root=$folder/$1
  if [ -e "$root/etc/debian_version" ] && [ ! -e "$root/debootstrap" ]; then return; fi # a folder of debootstrap's own
  echo "debian.sh: $root: $release"
  debootstrap --variant=minbase "$release" "$root" "$mirror" >"$folder/$1.log" 2>&1 ||
    fail "debootstrap could not make it, see $folder/$1.log"
}

# in_root NAME COMMAND: in namespaces of its own, so that no process or mount is left.
in_root() {
  unshare --mount --pid --fork bash -euc '
    root=$1
    mount --make-rprivate /
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/dev/shm"
    mount -t tmpfs tmpfs "$root/run"
    rm -rf "$root"/tmp/* # sessions of Open MPI are named by process ids, which restart
    exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8 bash -c "$2"
  ' bash "$folder/$1" "$2"
}

make_root tests
tried=$folder/tests/eventloom
[ -e "$tried/.git" ] || git init -q "$tried"
git -C "$tried" fetch -q "$clone" HEAD
git -C "$tried" reset -q --hard FETCH_HEAD # keeps the times of what did not change, which is not built again
in_root tests "cd /eventloom && tests/run_tests.sh ${*@Q}"
in_root tests 'cd /eventloom/build && rm -f ./*.deb && cpack >cpack.log'

make_root package
cp "$folder"/tests/eventloom/build/*.deb "$folder/package/eventloom.deb"
cp "$folder/tests/eventloom/tests/data/lmd/var_small.lmd" "$folder/package/"
in_root package '
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  apt-get update >/apt.log && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /eventloom.deb >>/apt.log
  eventloom --version
  mpirun --oversubscribe -n 3 eventloom run /var_small.lmd --define tag --output /run.h5 --force
  eventloom show /run.h5 --summary >/dev/null
  apt-get remove -y eventloom >>/apt.log
  [ ! -e /usr/bin/eventloom ]'
echo "debian.sh: $release: the tests and the package are good"
