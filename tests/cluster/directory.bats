# Whose directory scripts/cluster works in. It runs as root on a machine that others use too, and anyone may make a
# directory in /tmp before it does.

load helpers

setup() {
  privileged true || skip "needs root"
  export FLOR_CLUSTER_DIR=/tmp/flor-cluster-planted-$BATS_ROOT_PID
  export FLOR_BUILD=$BATS_TEST_TMPDIR/build
  ran=$BATS_TEST_TMPDIR/ran
  code="touch $ran; slurmctld_port=21000"
}

teardown() { privileged rm -rf "$FLOR_CLUSTER_DIR" "$FLOR_CLUSTER_DIR-elsewhere"; }

# another COMMAND…: as another user of the machine.
another() { privileged setpriv --reuid nobody --regid nogroup --clear-groups -- "$@"; }

# A whole directory of a cluster, as far as its ports file goes.
make_directory() {
  mkdir "$1"
  printf '%s\n' slurmctld_port=21000 slurmd_port=21001 redis_port=21005 node_prefix=p >"$1/ports"
}

# refused TEXT [COMMAND…]: every command refuses the directory in one line with the text, and runs nothing from it.
refused() {
  local command text=$1
  shift
  (($# > 0)) || set -- up env down status
  for command in "$@"; do
    run "$cluster" "$command"
    [[ $status -ne 0 && $output == "cluster: "*"$text"* && $(wc -l <<<"$output") -eq 1 ]] ||
      { echo "$command: $status: $output" >&2; return 1; }
    [[ ! -e $ran ]] || { echo "$command ran code of the directory" >&2; return 1; }
  done
}

@test "a directory that another user made is refused, and nothing in it is run" {
  another bash -c 'mkdir "$1" && echo "$2" >"$1/ports" && chmod -R 755 "$1"' - "$FLOR_CLUSTER_DIR" "$code"
  refused "belongs to nobody, not to root"
  another rm "$FLOR_CLUSTER_DIR/ports"
  refused "belongs to nobody, not to root"
}

@test "a link is refused, wherever it leads" {
  privileged bash -c "$(declare -f make_directory); make_directory $FLOR_CLUSTER_DIR-elsewhere"
  another ln -s "$FLOR_CLUSTER_DIR-elsewhere" "$FLOR_CLUSTER_DIR"
  refused "is a link"
}

@test "a directory that others may write to is refused, also where they are a group or it is sticky" {
  local mode
  privileged bash -c "$(declare -f make_directory); make_directory $FLOR_CLUSTER_DIR"
  for mode in 777 1777 775 3770 757; do
    privileged chmod "$mode" "$FLOR_CLUSTER_DIR"
    refused "can be written by other users"
  done
}

@test "a directory in a place where others may rename it is refused, also where they are a group" {
  local mode elsewhere=$FLOR_CLUSTER_DIR-elsewhere
  privileged bash -c "$(declare -f make_directory); mkdir -p $elsewhere/a; make_directory $elsewhere/a/cluster"
  for mode in 777 775 2770 757; do
    privileged chmod "$mode" "$elsewhere"
    FLOR_CLUSTER_DIR=$elsewhere/a/cluster refused "others may put another one in its place"
  done
  privileged chmod 755 "$elsewhere"
  privileged chown nobody "$elsewhere"
  FLOR_CLUSTER_DIR=$elsewhere/a/cluster refused "others may put another one in its place"
  # As /tmp is.
  privileged chown root "$elsewhere"
  privileged chmod 1777 "$elsewhere"
  FLOR_CLUSTER_DIR=$elsewhere/a/cluster run "$cluster" env
  [[ $status -eq 0 && $output == *"redis://127.0.0.1:21005"* ]]
}

@test "no directory is made in a place that is refused" {
  local mode elsewhere=$FLOR_CLUSTER_DIR-elsewhere
  for mode in 777 775; do
    privileged mkdir -m "$mode" "$elsewhere"
    FLOR_CLUSTER_DIR=$elsewhere/a/cluster refused "others may put another one in its place" up
    privileged rmdir "$elsewhere"
  done
}

@test "what stands in the ports file is read and never run" {
  local line
  for line in "$code" "slurmctld_port=\$(touch $ran)" "redis_port=21005; touch $ran" "PATH=$BATS_TEST_TMPDIR" \
    "node_prefix=a/b" "slurmd_port=99999"; do
    privileged bash -c "$(declare -f make_directory); make_directory $FLOR_CLUSTER_DIR"
    privileged tee -a "$FLOR_CLUSTER_DIR/ports" <<<"$line" >/dev/null
    for command in up env status; do
      run "$cluster" "$command"
      [[ $status -ne 0 && $output == *"ports"*"is damaged"* && ! -e $ran ]] ||
        { echo "$command, $line: $output" >&2; return 1; }
    done
    privileged rm -r "$FLOR_CLUSTER_DIR"
  done
}

@test "a prefix that is no part of a node's name is refused" {
  FLOR_CLUSTER_NODES=$'n\nInclude=x' run "$cluster" up
  [[ $status -eq 1 && $output == "cluster: FLOR_CLUSTER_NODES"* ]]
}
