# The Debian packages: built, checked, installed, used and removed, in a copy of this machine's root.

bats_require_minimum_version 1.5.0

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
build=${FLOR_BUILD:-$root/build}

load private_root

setup_file() {
  export packages=$build/packages
  rm -rf "$packages"
  cmake --build "$build" --target package
  can_have_private_root || return 0
  open_private_root "$BATS_FILE_TMPDIR/private" "$root" "$build"
  files_named_flor >"$BATS_FILE_TMPDIR/before"
}

files_named_flor() { in_private_root find /usr /etc -iname '*flor*' -not -path "$root/*"; }

teardown_file() { close_private_root; }

package() { echo "$packages/$1"_*.deb; }

needs_private_root() { [[ -n ${private_root_holder:-} ]] || skip "only root can have a root to install into"; }

@test "there are four packages, and lintian finds neither errors nor warnings" {
  [[ $(cd "$packages" && ls | cut -d_ -f1 | sort | paste -sd' ') == "flor flor-slurm libflor-dev libflor0" ]]
  run -0 lintian --allow-root --fail-on error,warning "$packages"/*.deb
}

@test "the plugin's package depends on the release of Slurm that it was built for" {
  local depends installed bound
  depends=$(dpkg-deb -f "$(package flor-slurm)" Depends)
  installed=$(dpkg-query -W -f '${Version}' slurm-wlm-basic-plugins)
  bound=$(sed -E 's/.*slurm-wlm-basic-plugins \(>= ([^)]*)\).*/\1/' <<<"$depends")
  [[ $bound =~ ^[0-9]{2}\.[0-9]{2}$ && $installed == "$bound".* ]]
  bound=$(sed -E 's/.*slurm-wlm-basic-plugins \(<< ([^)]*)\).*/\1/' <<<"$depends")
  dpkg --compare-versions "$installed" lt "$bound"
  # The next release, two digits behind the dot, also a candidate of it.
  [[ $bound =~ ^[0-9]{2}\.[0-9]{2}~$ ]]
  [[ $((10#${bound:3:2})) -eq $((10#${installed:3:2} + 1)) ]]
}

@test "the packages install, with what they need" {
  needs_private_root
  in_private_root dpkg --install "$packages"/*.deb
  run -0 in_private_root flor --version
  [[ $output == "$(dpkg-deb -f "$(package flor)" Version | cut -d- -f1)" ]]
  run -0 in_private_root ldconfig -p
  [[ $output == *"libflor.so.0 "* ]]
  in_private_root man -w flor flor-replay flor-agent flor.conf || in_private_root test -s /usr/share/man/man1/flor-replay.1.gz
  # Every path in the service templates and in the plugin's line is there.
  run -0 in_private_root bash -c 'sed -n "s/^ExecStart=//p" /usr/lib/systemd/{user,system}/flor-agent*.service;
    sed -n "s/^optional //p" /etc/slurm/plugstack.conf.d/flor.conf'
  [[ ${#lines[@]} -eq 3 ]]
  in_private_root test -x "${lines[0]}" -a -x "${lines[1]}" -a -e "${lines[2]}"
}

@test "a project that says find_package(Flor) builds, is recorded and replayed" {
  needs_private_root
  local small=(--epochs 4 --steps 4 --hidden 16 --batch 4 --length 16)
  in_private_root cmake -S "$root/examples/standalone" -B /tmp/project -G Ninja -DCMAKE_BUILD_TYPE=Release
  in_private_root cmake --build /tmp/project
  run -0 in_private_root ldd /tmp/project/char_lm
  [[ $output == *"libflor.so.0 => /usr/lib/"* || $output == *"libflor.so.0 => /lib/"* ]]
  run -0 in_private_root env FLOR_STORE=/tmp/store flor record --every 1 --name mine -- /tmp/project/char_lm "${small[@]}"
  [[ $output == *"4 checkpoints"* ]]
  run -0 in_private_root env FLOR_STORE=/tmp/store \
    flor replay mine --launcher local --workers 2 -- /tmp/project/char_lm "${small[@]}"
  [[ $output == *": identical"* ]]
}

# A slurm.conf as small as Slurm takes it, where Slurm looks for it: plugstack.conf is Debian's.
write_slurm_conf() {
  in_private_root bash -c 'printf "%s\n" ClusterName=c SlurmctldHost=localhost NodeName=n1 "PartitionName=p Nodes=ALL" \
    >/etc/slurm/slurm.conf'
}

@test "srun, sbatch and salloc know the plugin's flags by the installed line" {
  needs_private_root
  write_slurm_conf
  for command in srun sbatch salloc; do
    run -0 in_private_root "$command" --help
    [[ $output == *--flor-record* && $output == *--flor-replay=RUN* ]]
  done
}

@test "a cluster with the installed plugin, commands and agent records a step" {
  needs_private_root
  in_private_root mkdir -p /tmp/installed/lib
  in_private_root ln -sfn /usr/bin /tmp/installed/bin
  in_private_root bash -c 'ln -sfn "$(sed -n "s/^optional //p" /etc/slurm/plugstack.conf.d/flor.conf)" /tmp/installed/lib/'
  local cluster=(env FLOR_BUILD=/tmp/installed FLOR_CLUSTER_DIR=/tmp/flor-packages FLOR_CLUSTER_NODES=p)
  in_private_root "${cluster[@]}" "$root/scripts/cluster" up 3>&-
  run -0 in_private_root env SLURM_CONF=/tmp/flor-packages/etc/slurm.conf FLOR_STORE=/tmp/store \
    srun --flor-record --flor-name=step /tmp/project/char_lm --epochs 2 --steps 2 --hidden 16 --batch 4 --length 16
  [[ $output == *"flor: recorded run "* ]]
  in_private_root "${cluster[@]}" "$root/scripts/cluster" down
}

@test "removed packages leave Slurm as it was" {
  needs_private_root
  in_private_root dpkg --remove flor-slurm
  # Debian keeps configuration until a purge: the line is there and the plugin is not.
  in_private_root test -e /etc/slurm/plugstack.conf.d/flor.conf
  write_slurm_conf
  run -0 in_private_root srun --help
  [[ $output != *--flor-record* ]]
  in_private_root dpkg --purge flor-slurm libflor-dev libflor0 flor
  files_named_flor | diff "$BATS_FILE_TMPDIR/before" -
}
