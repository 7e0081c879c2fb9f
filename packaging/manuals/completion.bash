# Only what can be an id: the names of other users' runs are theirs to choose, and a shell reads what is offered.
_@NAME@_runs() {
  @PROGRAM@ runs --json 2>/dev/null | grep -oE '"(id|name)": *"[A-Za-z0-9][A-Za-z0-9._-]*"' | sed -E 's/.*: *"(.*)"/\1/'
}

_@NAME@() {
  local current=${COMP_WORDS[COMP_CWORD]} key=@PROGRAM@ at=1 word follows
  COMPREPLY=()
  for ((; at < COMP_CWORD; ++at)); do
    word=${COMP_WORDS[at]}
    if [[ $word == -- ]]; then  # the rest is a program with its own arguments
      if declare -F _command_offset >/dev/null; then
        _command_offset $((at + 1))
      else
        mapfile -t COMPREPLY < <(compgen -c -f -- "$current")
      fi
      return
    fi
    [[ -z ${_@NAME@_flags["$key $word"]-} ]] || key+=" $word"
  done
  follows=${_@NAME@_follows["$key ${COMP_WORDS[COMP_CWORD - 1]}"]-}
  # readline makes a word of the `=` in --flag=value.
  if [[ $current == = ]]; then
    follows=${_@NAME@_follows["$key ${COMP_WORDS[COMP_CWORD - 1]}"]-} current=''
  elif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    follows=${_@NAME@_follows["$key ${COMP_WORDS[COMP_CWORD - 2]}"]-}
  fi
  if [[ -z $follows && $current == -* ]]; then
    follows=${_@NAME@_flags[$key]}
  elif [[ -z $follows ]]; then
    follows=${_@NAME@_first[$key]}
  fi
  case $follows in
    :file) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    :directory) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    :run)  # not by compgen -W, which expands its words
      while IFS= read -r word; do
        [[ $word != "$current"* ]] || COMPREPLY+=("$word")
      done < <(_@NAME@_runs) ;;
    :value) ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$follows" -- "$current") ;;
  esac
}
complete -F _@NAME@ @PROGRAM@
