# Code shared by the scripts here, which source it. Needs `here`, this folder, and `search`.
export PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH
root=$(cd "$here/../.." && pwd)
# A search (`search` is not empty) counts branches, which running the corpus alone does not need.
if [ -n "$search" ]; then
  export SANITIZED_BUILD=${SANITIZED_BUILD:-$root/build-fuzzers} FUZZ_SEARCH=ON
fi
export SANITIZED_BUILD=${SANITIZED_BUILD:-$root/build-sanitizers}
build=$SANITIZED_BUILD
export UBSAN_OPTIONS=print_stacktrace=1

fail() {
  echo "fuzz: $1" >&2
  exit 1
}

build_fuzzers() { "$root/tests/sanitize/build.sh" --target fuzzers || fail "they could not be built"; }

# The lines of the list are TARGET MAX_BYTES.
target_names() { cut -d ' ' -f 1 "$build/fuzzers/list"; }
max_bytes_of() { awk -v target="$1" '$1 == target { print $2 }' "$build/fuzzers/list"; }

# run_target TARGET ARGUMENTS...: with the limits that hold everywhere.
run_target() {
  local target=$1 dictionary=$here/$1.dict
  local limits=(-rss_limit_mb=2048 -timeout=10 -max_len="$(max_bytes_of "$target")" -print_final_stats=1)
  shift
  [ ! -f "$dictionary" ] || limits+=(-dict="$dictionary")
  "$build/fuzzers/${target}_fuzzer" "${limits[@]}" "$@"
}
