# Sourced by scripts that build and test. They use the first program in the user's PATH; if PATH lacks it, they use
# Debian's location.
# shellcheck shell=bash
export PATH=$PATH:/usr/bin:/bin:/usr/sbin:/sbin

# python_with MODULES...: prints the first python3 in PATH that has all modules, or else Debian's.
python_with() {
  local python modules
  modules=$(
    IFS=,
    echo "$*"
  )
  while read -r python; do
    if "$python" -c "import $modules" 2>/dev/null </dev/null; then break; fi
  done < <(type -ap python3)
  echo "${python:-/usr/bin/python3}"
}
