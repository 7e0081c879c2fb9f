# Starting each service of the cluster, if it does not run. Sourced by scripts/cluster.
# shellcheck shell=bash disable=SC2154,SC2046

check_tools() {
  local tool
  for tool in munged munge unmunge redis-server redis-cli slurmctld slurmd scontrol sinfo setpriv pgrep; do
    command -v "$tool" >/dev/null || die "$tool is missing; run scripts/install-dependencies"
  done
}

# NAME LISTENS, one a line, for `status`.
services() {
  local node port=$slurmd_port
  echo "munged $dir/munge/socket"
  echo "redis-server 127.0.0.1:$redis_port"
  echo "slurmctld 127.0.0.1:$slurmctld_port"
  for node in $(node_names); do
    echo "slurmd-$node 127.0.0.1:$port"
    port=$((port + 1))
  done
  [[ -x $build/bin/flor-agent ]] || return 0
  for node in $(node_names); do echo "flor-agent-$node $(agent_socket "$node")"; done
}

# Prints the command that runs another one as USER, by exec all the way: its pid is the program's.
become() { echo setpriv --reuid "$1" --regid "$(id -g "$1")" --init-groups --; }

start_munge() {
  pid_of munged >/dev/null && return
  [[ -s $dir/munge/key ]] ||
    $(become munge) bash -c 'umask 077 && head -c 128 /dev/urandom >"$0"' "$dir/munge/key"
  # --force: a directory above ours may be group-writable; munged only warns of it then.
  detached "$dir/log/munged.out" $(become munge) \
    munged --force --key-file "$dir/munge/key" --socket "$dir/munge/socket" --pid-file "$dir/munge/pid" \
    --log-file "$dir/munge/log" --seed-file "$dir/munge/seed" || did_not_start "munged" "$dir/log/munged.out"
  ln -sf ../munge/pid "$dir/run/munged.pid"
  until_true 10 munged munge_answers
}

# did_not_start SERVICE OUTPUT: says why, as long as its log is there.
did_not_start() {
  cat "$2" "${2%.out}.log" 2>/dev/null | tail -n 8 >&2
  die "$1 did not start; its last words are above"
}

munge_answers() { munge -n --socket "$dir/munge/socket" | unmunge --socket "$dir/munge/socket"; }

start_redis() {
  pid_of redis-server >/dev/null && return
  # As redis, not root: whoever reaches the port commands the server.
  detached "$dir/log/redis.out" $(become redis) redis-server "$dir/etc/redis.conf" ||
    did_not_start "redis-server" "$dir/log/redis.out"
  ln -sf ../redis/redis-server.pid "$dir/run/redis-server.pid"
  until_true 20 redis-server redis_answers
}

redis_answers() { [[ $(redis-cli -h 127.0.0.1 -p "$redis_port" ping) == PONG ]]; }

start_slurmctld() {
  export SLURM_CONF=$dir/etc/slurm.conf
  if ! pid_of slurmctld >/dev/null; then
    # By this name and no other: under slurmctld-wlm (argv[0]) every Gres= is dropped without a word.
    detached "$dir/log/slurmctld.out" slurmctld -f "$SLURM_CONF" ||
      did_not_start "slurmctld" "$dir/log/slurmctld.out"
  fi
  until_true 30 slurmctld ctld_answers
}

ctld_answers() { pid_of slurmctld && timeout 5 scontrol ping | grep -q UP; }

start_slurmd() {
  pid_of "slurmd-$1" >/dev/null && return
  detached "$dir/log/slurmd-$1.out" slurmd -f "$SLURM_CONF" -N "$1" ||
    did_not_start "slurmd of $1" "$dir/log/slurmd-$1.out"
}

# A node that a test drained or killed comes back with its slurmd only when told so.
wait_for_nodes() {
  local bad
  bad=$(sinfo -h -N -t drain,down,fail -o %N | sort -u | paste -sd,)
  [[ -z $bad ]] || scontrol update "nodename=$bad" state=resume 2>/dev/null || true
  until_true 60 "the nodes" nodes_ready
}

nodes_ready() {
  [[ $(sinfo -h -N -p main -t idle,alloc,mix -o %N | sort -u | wc -l) -eq $node_count ]]
}

# Where the agent listens, by the rule in docs/formats.md, for the user who owns the cluster.
agent_socket() {
  local runtime=${XDG_RUNTIME_DIR:-}
  # sudo drops the variable; the owner's jobs have it.
  [[ -z ${SUDO_UID:-} ]] || runtime=/run/user/$SUDO_UID
  if [[ -n $runtime && -d $runtime && $(stat -c %u "$runtime") == "$owner_uid" ]]; then
    echo "$runtime/flor/agent-$1.sock"
  else
    echo "/tmp/flor-$owner_uid/agent-$1.sock"
  fi
}

# The owner's agents; those of other users start on demand.
start_agent() {
  local agent=$build/bin/flor-agent socket settings on_demand
  if [[ ! -x $agent ]]; then
    [[ $1 != "${node_prefix}1" ]] || echo "cluster: $agent is not built: no agents for now; they start on demand" >&2
    return 0
  fi
  pid_of "flor-agent-$1" >/dev/null && return
  # One that a job started on demand meanwhile makes room; its workers find the new one.
  mapfile -t on_demand < <(agents_on_demand "$1")
  end "${on_demand[@]}"
  socket=$(agent_socket "$1")
  settings=("SLURMD_NODENAME=$1" "FLOR_REDIS=redis://127.0.0.1:$redis_port" "SLURM_CONF=$SLURM_CONF"
    "HOME=$(getent passwd "$owner_uid" | cut -d: -f6)" "PATH=$build/bin:$PATH")
  [[ $socket == /tmp/* ]] || settings+=("XDG_RUNTIME_DIR=${socket%/flor/*}")
  touch "$dir/log/flor-agent-$1.log"
  # It stays in the foreground, so setsid forks. The inner shell's pid is the agent's: from there on all is exec.
  detached "$dir/log/flor-agent-$1.log" setsid --fork \
    bash -c 'echo "$$" >"$0" && exec "$@"' "$dir/run/flor-agent-$1.pid" $(become "$owner_uid") env "${settings[@]}" "$agent"
  # The kernel's list, not the file: a killed agent leaves its socket behind.
  # In /tmp it evades a directory of another user's (docs/formats.md).
  [[ $socket != /tmp/* ]] || socket="/tmp/flor-$owner_uid(\.[A-Za-z0-9]+)?/agent-$1.sock"
  until_true 15 "flor-agent of $1" grep -qE " $socket\$" /proc/net/unix
}

# The orderly end of all work: Slurm ends the tasks itself. What resists is found by `down` afterwards.
cancel_jobs() {
  export SLURM_CONF=$dir/etc/slurm.conf
  pid_of slurmctld >/dev/null || return 0
  local jobs
  jobs=$(timeout 10 squeue -h -o %A 2>/dev/null | sort -u) || return 0
  [[ -n $jobs ]] || return 0
  # shellcheck disable=SC2086
  timeout 20 scancel $jobs 2>/dev/null || true
  local deadline=$((SECONDS + 15))
  while [[ -n $(timeout 10 squeue -h -o %A 2>/dev/null) ]] && ((SECONDS < deadline)); do sleep 0.1; done
}
