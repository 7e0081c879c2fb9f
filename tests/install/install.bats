# What `cmake --install` gives, as a user's own project and shell see it: nothing of the build tree is used.

bats_require_minimum_version 1.5.0

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
build=${FLOR_BUILD:-$root/build}

setup_file() {
  export prefix=$BATS_FILE_TMPDIR/prefix project=$BATS_FILE_TMPDIR/project
  cmake --install "$build" --prefix "$prefix" >/dev/null
  cp -r "$root/examples" "$BATS_FILE_TMPDIR/"
}

# As a shell that knows of the installation alone.
installed() {
  env -u FLOR_BIN -u FLOR_REDIS PATH="$prefix/bin:/usr/sbin:/usr/bin:/sbin:/bin" FLOR_STORE="$BATS_FILE_TMPDIR/store" "$@"
}

@test "everything is installed" {
  local file
  for file in bin/flor bin/flor-agent include/flor/flor.h share/doc/flor/configs/{flor.conf,redis.conf,plugstack.conf} \
    lib/systemd/user/flor-agent.service; do
    [[ -s $prefix/$file ]] || { echo "$file is missing" >&2; return 1; }
  done
  [[ -n $(find "$prefix" -name libflor.so) && -n $(find "$prefix" -name FlorConfig.cmake) ]]
  local plugin
  plugin=$(find "$prefix" -path '*/slurm/spank_flor.so')
  grep -qxF "optional $plugin" "$prefix/share/doc/flor/configs/plugstack.conf"
  grep -qxF "ExecStart=$prefix/bin/flor-agent" "$prefix/lib/systemd/user/flor-agent.service"
}

@test "the plugin links libc alone" {
  run -0 ldd "$(find "$prefix" -name spank_flor.so)"
  [[ -z $(grep -vE 'linux-vdso|libc\.so|libm\.so|ld-linux' <<<"$output") ]] || { echo "$output" >&2; return 1; }
}

@test "a project of one's own builds by find_package(Flor)" {
  cmake -S "$BATS_FILE_TMPDIR/examples/standalone" -B "$project" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$prefix${CMAKE_PREFIX_PATH:+;$CMAKE_PREFIX_PATH}" -DCMAKE_CXX_COMPILER_LAUNCHER=
  cmake --build "$project"
}

@test "the project's program is recorded and replayed by what was installed" {
  local small=(--epochs 4 --steps 4 --hidden 16 --batch 4 --length 16)
  run -0 installed flor record --every 1 --name mine -- "$project/char_lm" "${small[@]}"
  [[ $output == *"4 checkpoints"* ]]
  run -0 installed flor replay mine --launcher local --workers 2 -- "$project/char_lm" "${small[@]}"
  [[ $output == *": identical"* ]]
}
