# What is written from the commands' help: manual pages, and completions for bash and zsh.

bats_require_minimum_version 1.5.0

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
build=${FLOR_BUILD:-$root/build}

setup_file() {
  export manuals=$BATS_FILE_TMPDIR/manuals
  python3 -B "$root/packaging/manuals" --build "$build" --output "$manuals" --version 1.2.3
}

# What bash offers where the cursor stands behind the last word.
bash_offers() {
  PATH="$build/bin:$PATH" bash --norc -c '. "$0/flor"; . "$0/flor-agent"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); "_${1//-/_}"; printf "%s\n" "${COMPREPLY[@]}"' "$manuals" "$@" | sort -u
}

zsh_offers() { PATH="$build/bin:$PATH" TERM=xterm timeout 60 zsh -f "$BATS_TEST_DIRNAME/zsh_completion" "$manuals" "$*" | sort -u; }

# Every command that has a help, by asking the help itself: "", "record", …, "admin redis-acl".
commands_of() {
  local sub
  echo "$*"
  "$build/bin/flor" "$@" --help | sed -n '/^Subcommands:/,$s/^  \([a-z-]\+\) .*/\1/p;/^Subcommands:/,$s/^  \([a-z-]\+\)$/\1/p' |
    while read -r sub; do commands_of "$@" "$sub"; done
}

# The flags that a help names at the beginning of a line.
flags_of() { sed -nE 's/^  (-[^ ]*).*/\1/p' | tr , '\n' | sort -u; }

@test "bash offers the flags of every command, and no others" {
  local line words count=0
  while IFS= read -r line; do
    read -ra words <<<"$line"
    diff <("$build/bin/flor" "${words[@]}" --help | flags_of) <(bash_offers flor "${words[@]}" -)
    count=$((count + 1))
  done < <(commands_of)
  [[ $count -gt 10 ]]
  diff <("$build/bin/flor-agent" --help | flags_of) <(bash_offers flor-agent -)
}

@test "zsh offers the flags of every command, and no others" {
  local line count=0
  while IFS= read -r line; do
    # zsh writes the = of a flag that has a value.
    diff <("$build/bin/flor" $line --help | flags_of) <(zsh_offers "flor $line -" | tr -d =) || { echo "in: flor $line" >&2; return 1; }
    count=$((count + 1))
  done < <(commands_of)
  [[ $count -gt 10 ]]
  diff <("$build/bin/flor-agent" --help | flags_of) <(zsh_offers "flor-agent -" | tr -d =)
}

@test "both offer commands, the values that a flag may have, and runs" {
  local shell
  export FLOR_STORE=$BATS_TEST_TMPDIR/store
  mkdir -p "$FLOR_STORE/20261120-143005-a3f9"
  echo "{}" >"$FLOR_STORE/20261120-143005-a3f9/run.json"
  for shell in bash zsh; do
    [[ $("${shell}_offers" flor re | paste -sd' ') == "record replay report" ]]
    [[ $("${shell}_offers" flor admin redis-a) == redis-acl ]]
    [[ $("${shell}_offers" flor log --format c) == csv ]]
    [[ $("${shell}_offers" flor record -- ech) == *echo* ]]
    [[ $("${shell}_offers" flor show 2026) == 20261120-143005-a3f9 ]]
  done
}

@test "a run whose name is a command is not offered, and TAB runs nothing" {
  local shell name number=0
  export FLOR_STORE=$BATS_TEST_TMPDIR/store
  cd "$BATS_TEST_TMPDIR"
  for name in '$(touch ran)' '`touch ran`' 'a;touch ran' '$(touch${IFS}ran)' '${x:-$(touch${IFS}ran)}' baseline; do
    mkdir -p "$FLOR_STORE/20261120-14300$number-a3f9"
    jq -n --arg name "$name" '{format: 1, id: "x", name: $name}' >"$FLOR_STORE/20261120-14300$number-a3f9/run.json"
    number=$((number + 1))
  done
  for shell in bash zsh; do
    [[ $("${shell}_offers" flor show "" | grep -vx -e '' -e '-.*' | grep -c .) -ge 6 ]]
    ! "${shell}_offers" flor show "" | grep -F -e '$' -e '`' -e ';'
    "${shell}_offers" flor show base | grep -x "baseline *"
    [[ ! -e ran ]]
  done
}

@test "every command has a page with its purpose and its flags; groff and lexgrog find nothing wrong" {
  local line page flag
  while IFS= read -r line; do
    [[ $line != "admin "* ]] || continue
    page=$manuals/man1/flor${line:+-$line}.1.gz
    run -0 --separate-stderr man --warnings -E UTF-8 -l "$page"
    [[ -z $stderr ]] || { echo "$page: $stderr" >&2; return 1; }
    zcat "$page" | sed 's/\\-/-/g' >"$BATS_TEST_TMPDIR/page"
    while read -r flag; do grep -qF -- "\\fB$flag\\fR" "$BATS_TEST_TMPDIR/page"; done < <("$build/bin/flor" $line --help | flags_of)
    run -0 lexgrog "$page"
  done < <(commands_of)
  run -0 man -l "$manuals/man1/flor.1.gz"
  [[ $output == *FLOR_STORE* && $output == *"verdict is differs"* && $output == *"Flor 1.2.3"* ]]
  run -0 man -l "$manuals/man5/flor.conf.5.gz"
  [[ $output == *epsilon* && $output == *spool_rate* ]]
}
