# Sourced by scripts that build and test: what is first in the user's PATH is what they use; what PATH lacks is looked
# for where Debian has it.
# shellcheck shell=bash
export PATH=$PATH:/usr/bin:/bin:/usr/sbin:/sbin

# python_with MODULES...: the first python3 in PATH that has them all, else Debian's.
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
