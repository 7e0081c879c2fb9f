# A few rounds of tests/chaos/chaos.py: whatever is killed, stopped or restarted, a replay ends with the right log.

load helpers
load training

setup_file() { use_cluster_and_store; }

teardown_file() { release_cluster; }

@test "replays while workers, agents, daemons, jobs and Redis are killed, stopped, restarted and cut off" {
  ((EUID == 0)) || skip "only root can kill the daemons"
  set -o pipefail
  cd "$BATS_TEST_TMPDIR"
  python3 -B "$root/tests/chaos/chaos.py" --count "${FLOR_CHAOS_ROUNDS:-4}" \
    "$(program char_lm.complete):$(program char_lm.complete.probed)" "$(program char_lm):$(program char_lm.probed)" \
    "$(program char_lm.inside):$(program char_lm.inside.probed)" |
    tee >(sed -n 's/^seed/# seed/p' >&3)
}
