#!/usr/bin/env bash
# Installs missing Debian packages, configures, and builds into build/.
# usage: jobs/setup.sh [--tests | --run]
#   --tests: with tests, benchmarks and their dependencies
#   --run: only `eventloom`; eventloom-view and eventloom-tools are built when one of their commands is first used
# Can be repeated: apt-get runs only when packages are missing. With environment modules loaded it installs nothing.
# Builds with the tools that are first in the user's PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=jobs/paths.sh
source jobs/paths.sh

# Version of Debian's clang; the package of its sanitizers has this number in its name.
case $(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME-}") in
  trixie) clang=19 ;;
  *) clang=14 ;;
esac

packages=(
  build-essential cmake ninja-build pkg-config python3 python3-numpy python3-h5py
  openmpi-bin libopenmpi-dev libhdf5-dev
  libboost-program-options-dev libspdlog-dev nlohmann-json3-dev libisal-dev libhwy-dev zlib1g-dev libzstd-dev liblz4-dev
  libzmq3-dev gnuplot-nox libsimgrid-dev
)
test_packages=(
  libgtest-dev libgmock-dev libbenchmark-dev hdf5-tools clang-format clang-tidy libomp-dev python3-pytest
  python3-pytest-xdist python3-pytest-timeout python3-pandas python3-venv python3-pip python3-setuptools python3-wheel mypy
  bzip2 lz4 xz-utils zstd iproute2 valgrind strace file git clang lld "libclang-rt-$clang-dev" slurmctld slurmd slurm-client munge
  chromium python3-websocket fonts-dejavu-core prometheus
)

# Readers of our files that Debian lacks. Tests that need them are skipped with a message if they are missing.
readers=(scippnexus==26.1.1 scipp==26.8.0 awkward==2.14.0 uproot==5.7.7 hist==2.12.1 pyarrow==26.0.1)

fail() {
  echo "setup: $1" >&2
  exit 1
}
fail_with_log() {
  tail -n 30 "$2" >&2
  fail "$1; the whole log is $2"
}

with_tests=
targets=(all)
case "${1-}" in
  "") ;;
  --tests) with_tests=1 packages+=("${test_packages[@]}") ;;
  --run)
    targets=(eventloom)
    # All are of one version.
    for other in eventloom-view eventloom-tools; do
      [ ! -e "build/$other" ] || targets+=("$other")
    done
    ;;
  *) fail "unknown option '$1'; those known are --tests and --run" ;;
esac

mkdir -p build

# Prints the packages among its arguments that are not installed.
missing_packages() {
  local installed package
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    grep -qxF "$package installed" <<<"$installed" || echo "$package"
  done
}

install() {
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "these packages are missing, install them as root: $*"
    as_root=(sudo)
  fi
  echo "setup: installing $*"
  {
    "${as_root[@]}" apt-get update
    # Keeps services in the test packages from starting.
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive SYSTEMD_OFFLINE=1 RUNLEVEL=1 apt-get install -y --no-install-recommends "$@"
  } >build/install.log 2>&1 || fail_with_log "apt-get could not install the packages" build/install.log
}

if [ -n "${LOADEDMODULES-}" ]; then
  echo "setup: with the modules $LOADEDMODULES; no packages are installed"
elif command -v dpkg-query >/dev/null; then
  mapfile -t missing < <(missing_packages "${packages[@]}")
  [ ${#missing[@]} = 0 ] || install "${missing[@]}"
else
  echo "setup: not a Debian system; it must have the counterparts of: ${packages[*]}" >&2
fi

install_readers() {
  echo "setup: installing ${readers[*]} from PyPI into build/readers"
  { "$(python_with venv ensurepip)" -m venv --clear build/readers &&
    build/readers/bin/python -m pip install --retries 1 --timeout 10 "${readers[@]}"; } >build/readers.log 2>&1 ||
    echo "setup: not installed, see build/readers.log: the tests that need them are skipped" >&2
}
if [ -n "$with_tests" ] && ! build/readers/bin/python -c 'import scippnexus, awkward, uproot, hist, pyarrow' 2>/dev/null; then
  install_readers
fi

# A build folder that already builds the tests continues to do so.
configure=(cmake --preset release)
if [ -n "$with_tests" ]; then
  configure+=(-DEVENTLOOM_TESTS=ON -DEVENTLOOM_WERROR=ON -DEVENTLOOM_UNIT_TESTS="${EVENTLOOM_UNIT_TESTS:-ON}"
    -DEVENTLOOM_PYTHON="$(python_with numpy h5py pandas pytest xdist pytest_timeout websocket)")
elif ! grep -qs '^EVENTLOOM_TESTS:BOOL=ON' build/CMakeCache.txt; then
  configure+=(-DEVENTLOOM_TESTS=OFF -DEVENTLOOM_WERROR=OFF)
fi
"${configure[@]}" >build/configure.log 2>&1 || fail_with_log "cmake failed" build/configure.log
cmake --build --preset release --target "${targets[@]}"
