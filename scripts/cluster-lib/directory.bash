# Where the cluster lies, and whether that place can be trusted: the script runs as root, and reads and starts what lies
# there. Sourced by scripts/cluster.
# shellcheck shell=bash disable=SC2154

# Prints the path without links above its last component. The last one stays as it is: a link there is refused.
directory_path() {
  local given=$1
  echo "$(realpath -m "$(dirname "$given")")/$(basename "$given")"
}

# Could another user put a directory of theirs in the place of ours, or have done so? Dies naming what is wrong.
# `up` always runs as root, so a cluster's directory is root's, also for the user who only asks for `env`.
require_own_directory() {
  local owner mode
  [[ ! -L $dir ]] || die "$dir is a link; remove it, or set FLOR_CLUSTER_DIR to another directory"
  [[ -d $dir ]] || die "$dir is no directory; remove it, or set FLOR_CLUSTER_DIR to another directory"
  read -r owner mode < <(stat -c '%U %a' "$dir")
  [[ $(stat -c %u "$dir") == 0 ]] ||
    die "$dir belongs to $owner, not to root; remove it, or set FLOR_CLUSTER_DIR to another directory"
  ! ((8#$mode & 022)) || die "$dir can be written by other users; remove it, or set FLOR_CLUSTER_DIR to another directory"
  require_safe_parents
}

# A directory that a group or anyone may write to is safe when it is sticky, like /tmp: nobody renames what is another's.
# Those that are not there yet are not looked at.
require_safe_parents() {
  local parent=$dir owner mode
  while [[ $parent != / ]]; do
    parent=$(dirname "$parent")
    [[ -e $parent ]] || continue
    read -r owner mode < <(stat -c '%u %a' "$parent")
    if [[ $owner != 0 && $owner != "$owner_uid" ]] || { ((8#$mode & 022)) && ! ((8#$mode & 01000)); }; then
      die "$dir: others may put another one in its place, for they may write to $parent; set FLOR_CLUSTER_DIR elsewhere"
    fi
  done
}

# Creates the directory, which must not be there: mkdir alone cannot be led elsewhere by a link. Users of the cluster
# reach what lies inside by name (slurm.conf, munge's socket), and cannot list it.
create_directory() {
  require_safe_parents
  mkdir -p "$(dirname "$dir")"
  require_safe_parents
  mkdir -m 0711 "$dir" 2>/dev/null || die "$dir cannot be created; set FLOR_CLUSTER_DIR to another directory"
}

# Reads $dir/ports: three ports and the prefix of the nodes' names. Parsed, never sourced.
read_ports() {
  local line key value file=$dir/ports
  slurmctld_port='' slurmd_port='' redis_port='' node_prefix=''
  while IFS= read -r line; do
    key=${line%%=*} value=${line#*=}
    case $key in
      slurmctld_port | slurmd_port | redis_port)
        is_port "$value" || damaged_ports ;;
      node_prefix) is_prefix "$value" || damaged_ports ;;
      *) damaged_ports ;;
    esac
    printf -v "$key" %s "$value"
  done <"$file"
  [[ -n $slurmctld_port && -n $slurmd_port && -n $redis_port && -n $node_prefix ]] || damaged_ports
}

is_port() { [[ $1 =~ ^[1-9][0-9]{3,4}$ ]] && (($1 < 65530)); }

damaged_ports() { die "$dir/ports is damaged; end what runs there by hand, and remove the directory"; }

is_prefix() { [[ $1 =~ ^[A-Za-z][A-Za-z0-9-]{0,15}$ ]]; }

# Is there a cluster, up or half up? Dies where the directory is there and not to be trusted.
has_cluster() {
  [[ -e $dir || -L $dir ]] || return 1
  require_own_directory
  [[ -f $dir/ports ]] || return 1
  read_ports
}
