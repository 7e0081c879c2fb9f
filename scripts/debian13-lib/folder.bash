# A folder with Debian 13 in it, and this checkout inside as /flor. Sourced by scripts/check-debian13 and
# scripts/check-cuda, which set `root` (the checkout), `folder` and `components`, and give die().
# shellcheck shell=bash disable=SC2154

suite=trixie

say() { printf '\n=== %s (%d s)\n' "$1" "$SECONDS"; }

check_folder() {
  ((EUID == 0)) || die "needs root to make and enter $folder; run it as root"
  command -v debootstrap >/dev/null || die "debootstrap is missing; run apt-get install debootstrap"
  case $folder/ in "$root"/*) die "$folder lies in the checkout, which is copied into it; name another folder" ;; esac
  require_roots "$folder"
}

# Dies where another user could have made the folder, or could put another one in its place: root runs what lies in it.
require_roots() {
  local at=$1 owner mode
  while [[ $at != / ]]; do
    if [[ -e $at ]]; then
      read -r owner mode < <(stat -c '%u %a' "$at")
      [[ $owner == 0 ]] || die "$at is not root's; name another folder"
      if ((8#$mode & 022)) && { [[ $at == "$1" ]] || ! ((8#$mode & 01000)); }; then
        die "other users may write to $at; name another folder"
      fi
    fi
    at=$(dirname "$at")
  done
}

# Starts the script again where its mounts are its own: they and the processes in the folder end with it.
own_mounts() {
  [[ -n ${FLOR_OWN_MOUNTS:-} ]] || FLOR_OWN_MOUNTS=1 exec unshare --mount --pid --fork --kill-child "$0" "$folder"
}

make_folder() {
  local mirror log
  # shellcheck disable=SC2016 # apt's own $(SITE)
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' | awk 'NR == 1')
  [[ -n $mirror ]] || die "apt knows no mirror of Debian; run apt-get update"
  # A proxy that apt uses, debootstrap and the folder's apt use as well.
  eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
  export http_proxy=${http_proxy:-} https_proxy=${https_proxy:-}
  say "debootstrap"
  mkdir -p "$(dirname "$folder")"
  mkdir -m 0755 "$folder.new" || die "$folder.new may be left from a check that was ended; remove it"
  log=$(mktemp)
  debootstrap --variant=minbase --components="$components" "$suite" "$folder.new" "$mirror" >"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; die "debootstrap failed; the whole output is in $log"; }
  rm -f "$log"
  apt-config dump Acquire >"$folder.new/etc/apt/apt.conf.d/90machine"
  # Slurm and the commands ask for this machine's name.
  cp /etc/hosts /etc/resolv.conf "$folder.new/etc/"
  # -T: another user may have made a folder of that name meanwhile.
  mv -T "$folder.new" "$folder"
  require_roots "$folder"
}

enter() { chroot "$folder" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }

copy_checkout() {
  mkdir -p "$folder/flor"
  # What git knows of; build/ in there stays, for the next time.
  find "$folder/flor" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git -C "$root" ls-files -z --cached --others --exclude-standard |
    tar -C "$root" --null -T - -cf - | tar -C "$folder/flor" -xf -
}

prepare_folder() {
  [[ -d $folder ]] || make_folder
  # Once it is there and root's, nobody can put another one in its place.
  require_roots "$folder"
  # The tests mount inside, which needs a root that is a mount of its own.
  mount --bind "$folder" "$folder"
  mount --rbind /dev "$folder/dev"
  mount --rbind /sys "$folder/sys"
  mount -t proc proc "$folder/proc"
  copy_checkout
}
