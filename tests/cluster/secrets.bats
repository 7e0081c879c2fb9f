# Where a password of Redis is seen: in its owner's flor.conf, and nowhere else.

load helpers
load small
load redis_users

setup_file() {
  small_store
  start_redis_with_users
  export XDG_CONFIG_HOME=$alice_home
  unset FLOR_REDIS
  small_record main
}

teardown_file() {
  stop_redis_with_users
  release_cluster
}

setup() {
  cd "$BATS_TEST_TMPDIR"
  pattern=$BATS_TEST_TMPDIR/pattern
  secret_of alice >"$pattern"
  [[ $(wc -c <"$pattern") -eq 65 ]]
}

teardown() {
  touch "$BATS_TEST_TMPDIR/go"
  scancel -u "$(id -un)"
}

reached() { [[ -s $BATS_TEST_TMPDIR/go.reached ]]; }

# The environments and words of processes, what Slurm and the store keep of jobs and replays, and what flor printed.
# Arguments: files of /proc that may hold it, the user's own shell and what it started there.
seen() {
  local files
  privileged grep -laF -f "$pattern" /proc/[0-9]*/{environ,cmdline} 2>/dev/null | grep -vxF "$1" || true
  files=$(privileged grep -rlaF -f "$pattern" "$FLOR_CLUSTER_DIR" "$FLOR_STORE" "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR"/*.out \
    --exclude=pattern --exclude=flor.conf || true)
  echo "$files"
  scontrol show job -dd | grep -F -f "$pattern" || true
}

nowhere() {
  run seen "${1:-none}"
  [[ -z ${output//$'\n'/} ]] || { echo "seen in: $output" >&2; return 1; }
}

@test "of a replay: neither in a process, nor in Slurm, nor in the store, nor in a message" {
  small_replay main --workers 2 -- --hold=2 --in=replaying --until="$PWD/go" >replay.out 2>&1 3>&- &
  flor=$!
  until_true 60 reached || { cat replay.out >&2; return 1; }
  nowhere
  touch go
  wait "$flor"
  grep -q ': identical' replay.out
  nowhere
  ps -o args= -C flor-agent | grep -v -F -f "$pattern" >/dev/null
}

@test "of a replay whose user has it in FLOR_REDIS as well: in that command's own environment alone" {
  FLOR_REDIS=$(url_of alice) small_replay main --workers 2 -- --hold=2 --in=replaying --until="$PWD/go" >replay.out 2>&1 3>&- &
  flor=$!
  until_true 60 reached || { cat replay.out >&2; return 1; }
  nowhere "$(printf '/proc/%s/environ\n' "$flor" $(pgrep -P "$flor"))"
  touch go
  wait "$flor"
  grep -q ': identical' replay.out
}

@test "a replay by FLOR_REDIS alone is refused, for the workers could get it in their environment only" {
  FLOR_REDIS=$(url_of alice) XDG_CONFIG_HOME=$PWD run small_replay main --workers 2
  [[ $status -eq 2 ]]
  one_line "FLOR_REDIS holds a password"
  [[ $output == *flor.conf* && $output == *"chmod 600"* ]]
  nowhere
}

@test "of a job that records: sbatch and srun leave it out, and say so" {
  FLOR_REDIS=$(url_of alice) run sbatch --parsable -o "$PWD/out" --flor-record \
    --wrap "exec srun $small_program train --guard --hold=2 --in=recording --until=$PWD/go"
  [[ $output == *"FLOR_REDIS holds a password"* ]]
  until_true 60 reached
  nowhere
  touch go
}

@test "of a worker that sbatch --flor-replay starts: it finds the login in flor.conf" {
  FLOR_REDIS=$(url_of alice) run sbatch --parsable -o "$PWD/out" --flor-replay=main --flor-probe=all --array=0-1 \
    --wrap "exec srun $small_program train --guard --inner --hold=2 --in=replaying --until=$PWD/go"
  [[ $output == *"FLOR_REDIS holds a password"* ]]
  until_true 60 reached || { cat out >&2; return 1; }
  nowhere
  touch go
}

@test "a flor.conf with a password that others can read is told" {
  mkdir -p open/flor
  cp "$alice_home/flor/flor.conf" open/flor/
  chmod 644 open/flor/flor.conf
  XDG_CONFIG_HOME=$PWD/open run small_replay main --workers 2
  [[ $output == *"open/flor/flor.conf holds a password and can be read by other users; chmod 600 it"* ]]
  rm open/flor/flor.conf
}
