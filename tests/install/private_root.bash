# A copy of this machine's root where packages can be installed: what is written there is in memory, is seen by the
# processes in it alone, and is gone when they are ended. Used by bats files.
# shellcheck shell=bash

# Is root, and may mount?
can_have_private_root() { ((EUID == 0)) && unshare --mount --pid --fork true 2>/dev/null; }

# open_private_root FOLDER PATH…: PATHs are seen inside as they are, also where they are file systems of their own.
# The first process of the copy holds it: its end ends every process inside, and the copy.
open_private_root() {
  local folder=$1 deadline=$((SECONDS + 20))
  shift
  mkdir -p "$folder"
  # bats waits for whoever holds its descriptors.
  unshare --mount --pid --fork --kill-child "$BASH" "${BASH_SOURCE[0]}" "$folder" "$@" </dev/null >"$folder.log" 2>&1 3>&- 4>&- &
  export private_root_holder=$! private_root_folder=$folder
  until [[ -e $folder.ready ]]; do
    if ((SECONDS >= deadline)) || ! kill -0 "$private_root_holder"; then
      cat "$folder.log" >&2
      return 1
    fi
    sleep 0.05
  done
}

close_private_root() {
  [[ -n ${private_root_holder:-} ]] || return 0
  # unshare ignores signals while it waits, and the first process of the copy all but this one.
  pkill -KILL -P "$private_root_holder" || true
  tail --pid="$private_root_holder" -f /dev/null
}

# Runs a command in the copy. --root: where this machine is itself a folder of another, a namespace begins above it.
in_private_root() {
  local first
  first=$(pgrep -P "$private_root_holder")
  nsenter --target "$first" --mount --pid --root -- chroot "$private_root_folder/root" \
    env -u FLOR_BIN -u FLOR_REDIS -u SLURM_CONF HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# The first process of the copy.
hold() {
  local folder=$1 path
  shift
  mount --make-rprivate /
  mount -t tmpfs private "$folder"
  mkdir "$folder"/{upper,work,root}
  mount -t overlay private -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" "$folder/root"
  for path in /dev /sys "$@"; do mount --rbind "$path" "$folder/root$path"; done
  mount -t proc proc "$folder/root/proc"
  # Nothing that installs may start a service: there is no other to see it.
  printf '#!/bin/sh\nexit 101\n' >"$folder/root/usr/sbin/policy-rc.d"
  chmod 755 "$folder/root/usr/sbin/policy-rc.d"
  touch "$folder.ready"
  exec sleep infinity
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -e
  hold "$@"
fi
