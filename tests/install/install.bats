# What `cmake --install` gives, as a user's own project and shell see it: nothing of the build tree is used.

bats_require_minimum_version 1.5.0

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
build=${FLOR_BUILD:-$root/build}

# All of it as an ordinary user: but for the plugin nothing needs root.
ordinary_user=nobody

setup_file() {
  export place
  place=$(mktemp -d /tmp/flor-install-XXXXXX)
  export prefix=$place/prefix project=$place/project
  cp -r "$root/examples" "$place/"
  mkdir "$place/home"
  if ((EUID == 0)); then
    chmod 755 "$place"
    chown -R "$ordinary_user:" "$place"
    # cmake --install writes this file into the build; the user may read the rest, also of a clone in /root.
    install -o "$ordinary_user" /dev/null "$build/install_manifest.txt"
    as_user=(setpriv --reuid "$ordinary_user" --regid nogroup --clear-groups --inh-caps +dac_read_search
      --ambient-caps +dac_read_search)
  fi
  env -C "$place" "${as_user[@]}" cmake --install "$build" --prefix "$prefix" >/dev/null
}

teardown_file() {
  rm -rf "${place:?}"
  ((EUID != 0)) || rm -rf "/tmp/flor-$(id -u "$ordinary_user")"
}

# As a shell of the user that knows of the installation alone.
installed() {
  local user=()
  ((EUID != 0)) || user=(setpriv --reuid "$ordinary_user" --regid nogroup --clear-groups)
  env -u FLOR_BIN -u FLOR_REDIS -u XDG_RUNTIME_DIR -C "$place" HOME="$place/home" CCACHE_DISABLE=1 \
    PATH="$prefix/bin:/usr/sbin:/usr/bin:/sbin:/bin" FLOR_STORE="$place/store" "${user[@]}" "$@"
}

@test "everything is installed" {
  local file
  for file in bin/flor bin/flor-agent include/flor/flor.h share/doc/flor/configs/{flor.conf,redis.conf,plugstack.conf} \
    lib/systemd/user/flor-agent.service share/man/man1/flor-replay.1.gz share/zsh/site-functions/_flor \
    share/bash-completion/completions/flor; do
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
  installed cmake -S "$place/examples/standalone" -B "$project" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$prefix${CMAKE_PREFIX_PATH:+;$CMAKE_PREFIX_PATH}" -DCMAKE_CXX_COMPILER_LAUNCHER=
  installed cmake --build "$project"
}

@test "the project's program is recorded and replayed by what was installed" {
  local small=(--epochs 4 --steps 4 --hidden 16 --batch 4 --length 16)
  run -0 installed flor record --every 1 --name mine -- "$project/char_lm" "${small[@]}"
  [[ $output == *"4 checkpoints"* ]]
  run -0 installed flor replay mine --launcher local --workers 2 -- "$project/char_lm" "${small[@]}"
  [[ $output == *": identical"* ]]
  [[ -z $(find "$place/store" ! -user "$(stat -c %U "$prefix")") ]]
}
