# Completion for bash: commands, their options, and files. What it offers is what `eventloom --help` says.
_eventloom() {
  local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} command=${COMP_WORDS[1]-}
  local words
  if [ "$COMP_CWORD" = 1 ]; then
    words=$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')
  elif [[ $word == -* ]]; then
    words=$("$program" "$command" --help 2>/dev/null | grep -o -- '^  .*' | grep -o -- '--[a-z][a-z-]*' | sort -u)
  else
    COMPREPLY=()
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _eventloom eventloom
