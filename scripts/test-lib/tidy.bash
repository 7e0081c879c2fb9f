# clang-tidy, without the analyzer, which takes as long again: `clang-tidy -p build/tidy FILE` has it. Sourced by
# scripts/test.
# shellcheck shell=bash disable=SC2154

tidy_folders=(replay/core replay/logging agent scheduler dashboard)

# configure_tidy FOLDER OPTION…: what clang-tidy reads. GCC's precompiled headers are another compiler's.
configure_tidy() {
  cmake -S . -B "$1" -G Ninja -DFLOR_TORCH=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
    "${@:2}" >/dev/null
}

# run_tidy FOLDER CHECKS FILE…: one line a file, so that long silence means a stuck clang-tidy.
run_tidy() {
  local folder=$1 checks=$2
  shift 2
  printf '%s\0' "$@" | numbered "$#" | xargs -0 -P "$jobs" -n 2 bash -c '
    echo "[$3] ${4#"$0"/}"
    clang-tidy --quiet -p "$1" --config-file="$0/.clang-tidy" --checks="$2" "$4" 2> >(grep -v " generated\.$" >&2)
  ' "$root" "$folder" "$checks"
  echo "nothing found in $# files"
}

# numbered COUNT: each name after its number, "3/12".
numbered() {
  local number=0 file
  while IFS= read -r -d '' file; do printf '%d/%d\0%s\0' $((number += 1)) "$1" "$file"; done
}

# The commit since which files count as changed.
tidy_base() {
  local base upstream
  base=$(git rev-parse -q --verify HEAD~10 || git rev-list --max-parents=0 HEAD | tail -n 1)
  for upstream in "${FLOR_TIDY_BASE:-}" '@{upstream}' origin/HEAD origin/main; do
    [[ -n $upstream ]] && upstream=$(git merge-base HEAD "$upstream" 2>/dev/null) || continue
    # The older of the two: on the upstream's own last commit there would be nothing to check.
    git merge-base --is-ancestor "$upstream" "$base" && base=$upstream
    [[ -z ${FLOR_TIDY_BASE:-} ]] || base=$upstream
    break
  done
  echo "$base"
}

# Changed files; for a changed header the file of its name, or one that includes it. None includes some: no error.
tidy_files() {
  local file
  { git diff --name-only --diff-filter=d "$1" -- "${tidy_folders[@]}" spank
    git ls-files -o --exclude-standard -- "${tidy_folders[@]}" spank; } |
    while IFS= read -r file; do
      case $file in
        *.cpp) echo "$file" ;;
        *.h)
          if [[ -f ${file%.h}.cpp ]]; then echo "${file%.h}.cpp"
          else git grep -l "include \"\(.*/\)\?${file##*/}\"" -- '*.cpp' | grep -E '^(replay/(core|logging)|agent|scheduler|dashboard|spank)/' | head -n 1 || true
          fi ;;
      esac
    done | sort -u
}

tidy() {
  local base files
  base=$(tidy_base)
  if ! git diff --quiet "$base" -- .clang-tidy; then
    echo ".clang-tidy changed: all files"
    tidy_all
    return
  fi
  mapfile -t files < <(tidy_files "$base")
  echo "${#files[@]} files since $(git log -1 --format='%h (%s)' "$base")"
  ((${#files[@]} > 0)) || return 0
  configure_tidy build/tidy
  run_tidy "$root/build/tidy" '-clang-analyzer-*' "${files[@]/#/$root/}"
}

# Several files at a time: most of the time goes into the headers, and each is read once for all of them.
tidy_all() {
  local files
  configure_tidy build/tidy-all -DFLOR_UNITY=ON -DFLOR_TESTS=OFF
  mapfile -t files < <(jq -r '.[].file' build/tidy-all/compile_commands.json | sort -u | grep -v /precompiled/)
  run_tidy "$root/build/tidy-all" '-clang-analyzer-*,-bugprone-suspicious-include' "${files[@]}"
}
