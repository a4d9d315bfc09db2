# Completion for bash: commands, their options, and files, taken from `--help` of the program and of the command.
_eventloom_commands() { "$@" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'; }
_eventloom_options() { "$@" --help 2>/dev/null | sed -n 's/^  \(-. \[ \)\{0,1\}\(--[a-z][a-z0-9-]*\).*/\2/p'; }
_eventloom() {
  local word=${COMP_WORDS[COMP_CWORD]} command=("${COMP_WORDS[0]}") number=1 words
  # Collects the preceding words that are commands, such as `bench patterns`.
  while ((number < COMP_CWORD)) && grep -qxF -e "${COMP_WORDS[number]}" <<<"$(_eventloom_commands "${command[@]}")"; do
    command+=("${COMP_WORDS[number]}")
    ((++number))
  done
  COMPREPLY=()
  if [[ $word == -* ]]; then
    words=$(_eventloom_options "${command[@]}")
  elif ((number == COMP_CWORD)); then
    words=$(_eventloom_commands "${command[@]}")
  fi
  [ -z "${words-}" ] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _eventloom eventloom
