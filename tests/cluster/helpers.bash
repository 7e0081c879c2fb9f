# What the tests on a cluster share. A test file says
#
#   load helpers
#   setup_file() { use_cluster; }
#   teardown_file() { release_cluster; }
#
# and has SLURM_CONF, FLOR_REDIS and the build's binaries in PATH. A cluster that runs already (FLOR_CLUSTER_DIR, or the
# default one) is used and left running; else one is started, and stopped behind the file's last test.
# shellcheck shell=bash

bats_require_minimum_version 1.5.0

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cluster=$root/scripts/cluster
# shellcheck disable=SC2034  # for the tests
build=${FLOR_BUILD:-$root/build}

use_cluster() {
  # What a killed run of the tests left behind is no cluster that somebody uses.
  if ! "$cluster" status 2>/dev/null | grep -q ' running '; then
    "$cluster" down
    export flor_test_started_cluster=1
  fi
  # Also where it runs: what an earlier test killed comes back.
  "$cluster" up
  eval "$("$cluster" env)"
  # An environment that a developer set for a run of their own must not reach the tests' tasks.
  unset FLOR_RECORD FLOR_REPLAY FLOR_STORE FLOR_NAME FLOR_EPSILON FLOR_ARGS FLOR_PROBE FLOR_EPOCHS
}

release_cluster() {
  [[ -z ${flor_test_started_cluster:-} ]] || "$cluster" down
}

# root, by sudo where the tests are an ordinary user's.
privileged() {
  if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi
}

# until_true SECONDS COMMAND…: waits for the event; fails when the time is over.
until_true() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || { echo "not in time: $*" >&2; return 1; }
    sleep 0.05
  done
}

job_state() { scontrol show job "$1" | grep -o 'JobState=[A-Z_]*' | head -n 1 | cut -d= -f2; }

# job_is ID STATE
job_is() { [[ $(job_state "$1") == "$2" ]]; }

# start_again ID: has a requeued job start, which Slurm would leave alone for some minutes, counted from when the last of it
# is cleared away. Not within the second in which it was put back: slurmd would refuse the job's new credential for the one
# that it has just revoked, whose times are whole seconds, and Slurm would give the job up.
start_again() {
  sleep 1.1
  scontrol update "JobId=$1" StartTime=now || true
}

# submit ARGUMENTS…: prints the job's id.
submit() { sbatch --parsable "$@" | cut -d';' -f1; }

# ordinary COMMAND…: runs it as an ordinary user, who is created on first use, with $ordinary_home as home directory.
ordinary_user=flor-test
ordinary_home=/tmp/flor-test-home
ordinary() {
  id "$ordinary_user" >/dev/null 2>&1 ||
    privileged useradd --no-log-init --create-home --home-dir "$ordinary_home" "$ordinary_user"
  privileged setpriv --reuid "$ordinary_user" --regid "$ordinary_user" --init-groups -- \
    env HOME="$ordinary_home" USER="$ordinary_user" SLURM_CONF="$SLURM_CONF" FLOR_REDIS="$FLOR_REDIS" PATH="$PATH" "$@"
}

# For the beginning of a test that uses it. In a clone that lies in /root the user can run nothing.
needs_ordinary_user() {
  ordinary test -r "$root/README.md" || skip "an ordinary user cannot read $root: clone it elsewhere to run this test"
}

remove_ordinary_user() {
  ! id "$ordinary_user" >/dev/null 2>&1 || privileged userdel --remove --force "$ordinary_user" 2>/dev/null
}

# After `run`: no line of the output matches the expression. (A bare `! grep` fails no test unless it is the last line.)
lacks() {
  # shellcheck disable=SC2154  # bats sets it
  ! grep -E "$1" <<<"$output"
}

# After `run`: the output holds exactly one line of flor's, and that line holds the text.
one_line() {
  local lines
  lines=$(grep -F 'flor: ' <<<"$output" || true)
  [[ $(wc -l <<<"$lines") -eq 1 && $lines == *"$1"* ]] || { echo "$output" >&2; return 1; }
}

# After `run`: no line of flor's.
no_line() {
  [[ $output != *'flor: '* ]] || { echo "$output" >&2; return 1; }
}
