# scripts/cluster itself, on a cluster of this file's own beside whichever runs.

load helpers

setup_file() {
  export FLOR_CLUSTER_DIR=/tmp/flor-cluster-test-$$ FLOR_CLUSTER_NODES=t
  # Of this test's own too: an empty build gives a cluster without plugin and agents.
  export FLOR_BUILD=$BATS_FILE_TMPDIR/build
  "$cluster" up
}

teardown_file() { "$cluster" down; }

setup() {
  cd "$BATS_TEST_TMPDIR"
  "$cluster" up
  eval "$("$cluster" env)"
}

pid_file() { cat "$FLOR_CLUSTER_DIR/run/$1.pid"; }

# The live processes that have to do with the cluster.
left() {
  local proc
  for proc in /proc/[0-9]*; do
    [[ $(ps -o stat= -p "${proc##*/}") != Z* ]] || continue
    if tr '\0' '\n' <"$proc/cmdline" | grep -qF "$FLOR_CLUSTER_DIR/" || [[ $(readlink "$proc/cwd")/ == "$FLOR_CLUSTER_DIR"/* ]]; then
      ps -o pid=,args= -p "${proc##*/}"
    fi
  done 2>/dev/null
}

dead() { [[ ! -d /proc/$1 || $(ps -o stat= -p "$1") == Z* ]]; }

@test "wrong usage ends with 2 and says how" {
  run -2 "$cluster"
  [[ $output == *"up|down|status|env"* ]]
  run -2 "$cluster" restart
}

@test "a directory that is not a cluster's is left alone" {
  mkdir other
  touch other/file
  FLOR_CLUSTER_DIR=$PWD/other run -1 "$cluster" up
  FLOR_CLUSTER_DIR=$PWD/other run -1 "$cluster" down
  [[ -e other/file ]]
}

@test "up may be repeated: nothing is started twice" {
  before=$(cat "$FLOR_CLUSTER_DIR"/run/*.pid)
  "$cluster" up
  [[ $(cat "$FLOR_CLUSTER_DIR"/run/*.pid) == "$before" ]]
}

@test "status shows every service, and fails when one is gone" {
  run -0 "$cluster" status
  for service in munged redis-server slurmctld slurmd-t1 slurmd-t4; do
    grep -qE "^$service +[0-9]+ +running" <<<"$output"
  done
  kill -KILL "$(pid_file slurmd-t2)"
  until_true 10 dead "$(pid_file slurmd-t2)"
  run -1 "$cluster" status
  grep -qE '^slurmd-t2 +- +stopped' <<<"$output"
}

@test "up brings back what was killed" {
  kill -KILL "$(pid_file slurmctld)" "$(pid_file slurmd-t3)"
  until_true 10 dead "$(pid_file slurmctld)"
  "$cluster" up
  "$cluster" status
  srun -w t3 true
}

@test "Redis keeps its data over a kill and evicts nothing" {
  redis-cli -u "$FLOR_REDIS" set flor:test kept
  [[ $(redis-cli -u "$FLOR_REDIS" config get maxmemory-policy | tail -n 1) == noeviction ]]
  # It writes within a second of the change.
  until_true 5 grep -q kept -r "$FLOR_CLUSTER_DIR/redis"
  kill -KILL "$(pid_file redis-server)"
  until_true 10 dead "$(pid_file redis-server)"
  "$cluster" up
  [[ $(redis-cli -u "$FLOR_REDIS" get flor:test) == kept ]]
}

@test "Redis listens on the loopback only and is not root's" {
  port=${FLOR_REDIS##*:}
  [[ $(redis-cli -u "$FLOR_REDIS" config get bind | tail -n 1) == 127.0.0.1 ]]
  [[ $(stat -c %U "/proc/$(pid_file redis-server)") == redis ]]
}

@test "no process of the cluster listens on another interface than the loopback" {
  [[ $(getent ahostsv4 "$(hostname)" | awk 'NR == 1 { print $1 }') == 127.0.0.1 ]] ||
    skip "the name of this machine is not 127.0.0.1's"
  srun -N4 sleep 600 &
  srun_pid=$!
  srun_listens() { ss -Hlntp | grep -qF "pid=$srun_pid,"; }
  until_true 30 srun_listens
  first=$((${FLOR_REDIS##*:} - 5))
  pattern=$(seq -f ':%.0f ' "$first" "$((first + 5))" | paste -sd'|')
  listeners=$(ss -Hlntp | grep -E "$pattern|pid=$srun_pid,")
  kill "$srun_pid"
  [[ $(wc -l <<<"$listeners") -gt 6 ]]
  run ! grep -vE ' 127\.[0-9]+\.[0-9]+\.[0-9]+:[0-9]+ ' <<<"$listeners"
}

@test "four nodes with two GPUs each, seen by the tasks" {
  run -0 srun -N4 -n4 --gres=gpu:2 sh -c 'echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES'
  [[ $(sort <<<"$output") == $'t1 0,1\nt2 0,1\nt3 0,1\nt4 0,1' ]]
  run ! srun --gres=gpu:3 -N1 true
}

@test "a job of the urgent partition preempts one of the main partition, which is requeued" {
  job=$(submit -N4 --exclusive -o /dev/null --wrap 'sleep 600')
  until_true 30 job_is "$job" RUNNING
  srun -p urgent -N4 --exclusive true
  until_true 90 job_is "$job" RUNNING
  scontrol show job "$job" | grep -q 'Restarts=1'
  scancel "$job"
  until_true 30 job_is "$job" CANCELLED
}

@test "a finished job can still be asked for" {
  run -0 sbatch -W --parsable -o /dev/null --wrap true
  job_is "$output" COMPLETED
}

@test "an ordinary user submits, and reads the settings without being root" {
  needs_ordinary_user
  run -0 ordinary srun -D / id -un
  [[ $output == "$ordinary_user" ]]
  run -0 ordinary env FLOR_CLUSTER_DIR="$FLOR_CLUSTER_DIR" "$cluster" env
  [[ $output == *"SLURM_CONF=$FLOR_CLUSTER_DIR/etc/slurm.conf"* ]]
  remove_ordinary_user
}

@test "the cluster's secrets are readable for nobody else" {
  run ! ordinary cat "$FLOR_CLUSTER_DIR/munge/key"
  run ! ordinary ls "$FLOR_CLUSTER_DIR/state"
  remove_ordinary_user
}

@test "down ends jobs that resist, and leaves neither process nor file" {
  submit -o /dev/null --wrap "trap '' TERM; setsid sleep 4711 & sleep 4711"
  submit -o /dev/null --wrap 'srun --export=NONE /bin/sleep 4711'
  until_true 30 pgrep -f 'sleep 4711'
  "$cluster" down
  [[ ! -e $FLOR_CLUSTER_DIR && -z $(left) ]]
  [[ -z $(pgrep -x -f 'sleep 4711' -r R,S,D) && -z $(pgrep -x -f '/bin/sleep 4711' -r R,S,D) ]]
}

@test "down cleans up when slurmctld and a slurmd were killed under a running job" {
  submit -w t1 -o /dev/null --wrap "srun sh -c \"trap '' TERM; touch $PWD/started; sleep 4712; sleep 4712\""
  until_true 30 test -e started
  kill -KILL "$(pid_file slurmctld)" "$(pid_file slurmd-t1)"
  "$cluster" down
  [[ ! -e $FLOR_CLUSTER_DIR && -z $(left) && -z $(pgrep -x -f 'sleep 4712' -r R,S,D) ]]
}

@test "down ends an agent that a job started on demand" {
  mkdir -p bin
  # A stand-in: what counts is the process's name and where it came from.
  cp "$(command -v sleep)" bin/flor-agent
  srun -w t1 sh -c "setsid $PWD/bin/flor-agent 4713 >/dev/null 2>&1 </dev/null & sleep 0.1" || true
  if ! pgrep -x -f "$PWD/bin/flor-agent 4713" >/dev/null; then
    # Slurm ends what a step leaves behind, except a process with another session: start it as a task does.
    SLURMD_NODENAME=t1 setsid "$PWD/bin/flor-agent" 4713 >/dev/null 2>&1 </dev/null 3>&- &
    until_true 5 pgrep -x -f "$PWD/bin/flor-agent 4713"
  fi
  "$cluster" down
  [[ -z $(pgrep -x -f "$PWD/bin/flor-agent 4713" -r R,S,D) ]]
}

@test "down of a pid file that names another's process ends nothing" {
  sleep 4714 3>&- &
  echo $! >"$FLOR_CLUSTER_DIR/run/slurmd-t1.pid"
  "$cluster" down
  kill -0 $!
  kill $!
}

@test "down may be repeated, and status says that nothing is up" {
  "$cluster" down
  run -0 "$cluster" down
  run -1 "$cluster" status
  [[ $output == *"not up"* ]]
  run -1 "$cluster" env
}

@test "two clusters run side by side" {
  FLOR_CLUSTER_DIR=$FLOR_CLUSTER_DIR-2 FLOR_CLUSTER_NODES=u "$cluster" up
  srun -N4 true
  SLURM_CONF=$FLOR_CLUSTER_DIR-2/etc/slurm.conf srun -N4 true
  FLOR_CLUSTER_DIR=$FLOR_CLUSTER_DIR-2 "$cluster" down
  srun -N4 true
}
