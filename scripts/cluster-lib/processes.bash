# Finding, waiting for and ending the processes of the cluster in $dir. Sourced by scripts/cluster.
# shellcheck shell=bash disable=SC2154

# until_true SECONDS WHAT COMMAND…: waits until COMMAND succeeds; dies naming WHAT when the time is over.
until_true() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || die "$what: not ready in time; see $dir/log"
    sleep 0.05
  done
}

# Runs a command that is to outlive us: own session, no descriptor of ours (bats waits for whoever holds its own).
detached() {
  local log=$1
  shift
  (
    for fd in /proc/self/fd/*; do
      fd=${fd##*/}
      ((fd > 2)) && eval "exec $fd>&-"
    done
    cd "$dir"
    exec setsid "$@" </dev/null >>"$log" 2>&1
  )
}

# Does the process live in the cluster's directory? A pid file may be stale and its pid another's by now, so nothing is
# ended without one of these. Not all hold for each: redis and slurmstepd overwrite their command lines.
belongs() {
  local proc=/proc/$1
  [[ $(readlink "$proc/cwd" 2>/dev/null)/ == "$dir"/* ]] && return
  tr '\0' '\n' <"$proc/cmdline" 2>/dev/null | grep -qF -e "$dir/" && return
  find "$proc/fd" -lname "$dir/*" 2>/dev/null | grep -q .
}

pid_of() {
  local pid
  pid=$(cat "$dir/run/$1.pid" 2>/dev/null) && [[ $pid =~ ^[0-9]+$ ]] && [[ -d /proc/$pid ]] && belongs "$pid" &&
    echo "$pid"
}

# The cluster's processes that run the program NAME, with a pid file or without (a failed `up`, slurmstepds).
matching() {
  local pid
  for pid in $(pgrep -x "$1"); do
    ! belongs "$pid" || echo "$pid"
  done
}

descendants() {
  local child
  for child in $(pgrep -P "$1"); do
    echo "$child"
    descendants "$child"
  done
}

# What jobs left behind: tasks whose slurmstepd is gone, agents started on demand. They have both variables; the shell
# of a user of the cluster never the second.
leftovers() {
  local proc
  for proc in /proc/[0-9]*; do
    grep -qzxF -e "SLURM_CONF=$dir/etc/slurm.conf" "$proc/environ" && grep -qz '^SLURMD_NODENAME=' "$proc/environ" &&
      echo "${proc##*/}"
  done 2>/dev/null
  return 0
}

# The owner's agents on a node that no pid file names.
agents_on_demand() {
  local pid
  for pid in $(leftovers); do
    [[ $(cat "/proc/$pid/comm") == flor-agent && $(stat -c %u "/proc/$pid") == "$owner_uid" ]] &&
      grep -qzxF "SLURMD_NODENAME=$1" "/proc/$pid/environ" && echo "$pid"
  done 2>/dev/null
  return 0
}

alive() {
  local pid
  for pid in "$@"; do
    # A zombie is ended; it waits for a parent that may be no reaper (a container's first process).
    [[ $(ps -o stat= -p "$pid" 2>/dev/null) == [!Z]* ]] && return
  done
  return 1
}

# Ends processes: SIGTERM, and SIGKILL for what is left after five seconds.
end() {
  (($#)) || return 0
  kill "$@" 2>/dev/null || true
  local deadline=$((SECONDS + 5))
  while alive "$@" && ((SECONDS < deadline)); do sleep 0.05; done
  ! alive "$@" || kill -KILL "$@" 2>/dev/null || true
}

stop_matching() {
  local pids=() pid
  for pid in $(matching "$1"); do
    pids+=("$pid")
    if [[ $1 == slurmstepd ]]; then
      mapfile -t -O "${#pids[@]}" pids < <(descendants "$pid")
    fi
  done
  end "${pids[@]}"
}

stop_leftovers() {
  local pids
  mapfile -t pids < <(leftovers)
  end "${pids[@]}"
}
