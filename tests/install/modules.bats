# What HPC centres install by: the Lmod module file with the real Lmod, the recipes of Spack and EasyBuild with stand-ins
# for what reads them (packaging/README.md says what that leaves open).

bats_require_minimum_version 1.5.0

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
build=${FLOR_BUILD:-$root/build}

setup_file() {
  export prefix=$BATS_FILE_TMPDIR/prefix
  cmake --install "$build" --prefix "$prefix" >/dev/null
}

project_version() { sed -nE 's/^project\(Flor VERSION ([0-9.]+) .*/\1/p' "$root/CMakeLists.txt"; }

# Runs bash with Lmod's `module`, and nothing of this shell's paths.
with_lmod() {
  env -u FLOR_BIN PATH=/usr/sbin:/usr/bin:/sbin:/bin bash --norc -c \
    '. /usr/share/lmod/lmod/init/bash; module use "$0/share/modulefiles"; '"$1" "$prefix"
}

said() { python3 -B "$BATS_TEST_DIRNAME/recipe_standins.py" "$@"; }

@test "module load flor gives the commands, the library and the pages; unload takes them away" {
  run -0 with_lmod 'module load flor && type -P flor && flor --version && echo "$CMAKE_PREFIX_PATH" && man -w flor-replay'
  [[ ${lines[0]} == "$prefix/bin/flor" && ${lines[1]} == "$(project_version)" && ${lines[2]} == "$prefix" ]]
  [[ ${lines[3]} == "$prefix/share/man/man1/flor-replay.1.gz" ]]
  run -0 with_lmod 'module load flor && echo "${LD_LIBRARY_PATH%%:*}"'
  [[ -e $output/libflor.so.0 ]]
  run -0 with_lmod 'module load flor; module unload flor; type -P flor || echo "gone:${LD_LIBRARY_PATH-}:${FLOR_ROOT-}"'
  [[ $output == "gone::" ]]
}

@test "a prefix that was moved takes its module file along" {
  cp -r "$prefix" "$BATS_TEST_TMPDIR/moved"
  prefix=$BATS_TEST_TMPDIR/moved run -0 with_lmod 'module load flor && type -P flor'
  [[ $output == "$BATS_TEST_TMPDIR/moved/bin/flor" ]]
}

# recipe_is_right KIND FILE NAME…: NAMEs are what the recipes' worlds call the packages that CMake looks for.
recipe_is_right() {
  local kind=$1 file=$2 name
  shift 2
  said "$kind" "$file" >"$BATS_TEST_TMPDIR/said"
  for name in "$@"; do
    jq -e --arg name "$name" '.dependencies | index($name)' "$BATS_TEST_TMPDIR/said" >/dev/null ||
      { echo "$file does not depend on $name" >&2; return 1; }
  done
  for name in $(jq -r '.options | keys[]' "$BATS_TEST_TMPDIR/said"); do
    grep -qE "^option\($name " "$root/CMakeLists.txt" || { echo "$file: cmake has no option $name" >&2; return 1; }
  done
}

@test "the packages that CMake looks for are those that this test knows of" {
  run -0 bash -c "sed -nE 's/^ *find_package\(([A-Za-z0-9_]+).*/\1/p' '$root/CMakeLists.txt' '$root/packaging/CMakeLists.txt' | sort -u | paste -sd' '"
  [[ $output == "CLI11 GTest Hiredis Minizip PNG Python3 SQLite3 Threads Torch XxHash nlohmann_json" ]]
}

@test "Spack's recipe is read, has what CMake looks for, and builds this clone" {
  recipe_is_right spack "$root/packaging/spack/packages/flor/package.py" \
    cmake cli11 hiredis minizip libpng python py-torch xxhash nlohmann-json sqlite slurm redis
  [[ $(jq -r .git "$BATS_TEST_TMPDIR/said") == "file://$root" ]]
}

@test "EasyBuild's configuration is read, has what CMake looks for, and names files that are installed" {
  local file=$root/packaging/easybuild/Flor-$(project_version)-foss-2024a.eb path
  recipe_is_right easybuild "$file" cmake ninja cli11 hiredis minizip libpng python pytorch xxhash nlohmann_json redis sqlite
  [[ $(jq -r '.versions[0]' "$BATS_TEST_TMPDIR/said") == "$(project_version)" ]]
  for path in $(jq -r '.files[]' "$BATS_TEST_TMPDIR/said"); do
    [[ -s $prefix/$path ]] || { echo "$path is not installed" >&2; return 1; }
  done
}
