# scripts/check-docs and scripts/reference: each defect that they are for is planted in a copy of the tree, and found.
# shellcheck shell=bash disable=SC2016

bats_require_minimum_version 1.5.0

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
build=${FLOR_BUILD:-$root/build}

setup() {
  tree=$BATS_TEST_TMPDIR/tree
  mkdir "$tree"
  # As it is now, changes that are not committed included.
  git -C "$root" ls-files -zco --exclude-standard |
    (cd "$root" && xargs -0 sh -c 'for file; do [ ! -e "$file" ] || printf "%s\0" "$file"; done' sh |
      tar --null -T - -cf -) | tar -xf - -C "$tree"
  git -C "$tree" init -q
}

# finds TEXT: check-docs fails and says so.
finds() {
  run "$root/scripts/check-docs" "$tree"
  [[ $status -eq 1 && $output == *"$1"* ]] || { echo "not found: $1; it said: $output"; return 1; }
}

@test "the documents are in order" {
  run "$root/scripts/check-docs" "$tree"
  echo "$output"
  [[ $status -eq 0 && -z $output ]]
}

@test "a dead link is found" {
  echo 'See [that](docs/nowhere.md).' >>"$tree/README.md"
  finds "dead link docs/nowhere.md"
}

@test "a dead anchor is found" {
  echo 'See [that](docs/semantics.md#rule-99-none).' >>"$tree/README.md"
  finds "dead anchor docs/semantics.md#rule-99-none"
}

@test "a picture that no page shows is found" {
  cp "$tree/docs/figures/idea.svg" "$tree/docs/figures/forgotten.svg"
  finds "docs/figures/forgotten.svg: no page shows this picture"
}

@test "a line of the README over 120 characters is found, and one of 120 is not" {
  # Characters, not bytes.
  printf 'ε%.0s' {1..120} >>"$tree/README.md"
  run "$root/scripts/check-docs" "$tree"
  [[ $status -eq 0 ]]
  printf 'ε\n' >>"$tree/README.md"
  finds "121 characters"
}

@test "a flag that no command has is found, in text and in a command" {
  echo 'Give `--no-such-flag`.' >>"$tree/docs/guide.md"
  finds "no command has the flag --no-such-flag"
  printf '```\nsrun --flor-wrong ./train\nflor gc --younger-than 3d\n```\n' >>"$tree/docs/guide.md"
  finds "no command has the flag --flor-wrong"
  finds "no command has the flag --younger-than"
}

@test "a variable that nothing reads is found" {
  echo 'Set `FLOR_NO_SUCH`.' >>"$tree/docs/cluster.md"
  finds "no variable FLOR_NO_SUCH is read"
}

@test "a command that does not exist is found" {
  echo 'Run `flor forget RUN`.' >>"$tree/docs/guide.md"
  finds "there is no command flor forget"
}

@test "a file that does not exist is found" {
  echo 'It stands in `replay/core/log/nowhere.h`.' >>"$tree/docs/architecture.md"
  finds "replay/core/log/nowhere.h does not exist"
}

@test "a test that does not exist is found: of GoogleTest, of Python, of bats" {
  echo '- It holds (`Shared.NoSuchTest`, `planted.Planted.test_no_such`, "no such title, in words").' >>"$tree/docs/security.md"
  finds "there is no test Shared.NoSuchTest"
  finds "there is no test Planted.test_no_such"
  finds 'no test of bats has the title "no such title, in words"'
}

@test "a page, a section and a rule that the code cites and that are not there are found" {
  printf '// As docs/nowhere.md says;\n// docs/formats.md, "No such section"; docs/semantics.md, rules 18a\n// and 99.\n' \
    >>"$tree/replay/core/base/json.h"
  finds "it cites docs/nowhere.md, which does not exist"
  finds 'docs/formats.md, which has no section "No such section"'
  finds "it cites rule 99"
}

@test "the reference is what the programs say of themselves" {
  run "$root/scripts/reference" --check --build "$build"
  echo "$output"
  [[ $status -eq 0 ]]
}

@test "a reference that has drifted is found: a flag, an exit code, a variable, a key of flor.conf" {
  cd "$tree"
  sed -i 's/`--older-than TEXT`/`--younger-than TEXT`/' docs/reference.md
  sed -i 's/^| 3 | /| 5 | /' docs/reference.md
  sed -i '/^| `FLOR_MTBF` /d; s/^| `spool_rate` /| `spool_speed` /' docs/reference.md
  run scripts/reference --check --build "$build"
  [[ $status -eq 1 ]]
  [[ $output == *'-| `--younger-than TEXT`'* && $output == *'+| `--older-than TEXT`'* ]]
  [[ $output == *'-| 5 | '* && $output == *'+| 3 | '* ]]
  [[ $output == *'reference.md lacks the variable FLOR_MTBF'* ]]
  [[ $output == *'reference.md lacks the key of flor.conf spool_rate'* ]]
  [[ $output == *'spool_speed, which the code does not read'* ]]
}

@test "the reference is written anew from the programs" {
  cd "$tree"
  sed -i 's/`--older-than TEXT`/`--younger-than TEXT`/' docs/reference.md
  scripts/reference --build "$build"
  cmp docs/reference.md "$root/docs/reference.md"
}
