# Runs the tests on a cluster in two lanes, side by side: most of their time goes by in waiting for Slurm. Sourced by
# scripts/test.
# shellcheck shell=bash disable=SC2154

# The files of the second lane. They use clusters of their own, or nothing of the common one but its settings: no name of a
# node, no port, and not the ordinary user that the others create and remove.
second_lane=(arrays chaos damage directory faults foreign_jobs inside_jobs liveness page submitted_inside)
second_log=build/cluster-second.log

# run_lanes: what the second one says comes behind what the first one says.
run_lanes() {
  local file status=0 first=() second=()
  for file in tests/cluster/*.bats; do
    if [[ " ${second_lane[*]} " == *" $(basename "$file" .bats) "* ]]; then second+=("$file"); else first+=("$file"); fi
  done
  set -m  # its own process group, so that all of it can be ended
  in_second_lane run_bats "${second[@]}" >"$second_log" 2>&1 </dev/null &
  set +m
  second_pid=$!
  run_bats "${first[@]}" || status=1
  tail -n +1 -f --pid="$second_pid" "$second_log"
  wait "$second_pid" || status=1
  second_pid=''
  return "$status"
}

in_second_lane() { FLOR_CLUSTER_DIR=/tmp/flor-cluster-second-$$ FLOR_CLUSTER_NODES=b "$@"; }

# end_second_lane: where it runs still, ends it and its cluster.
end_second_lane() {
  [[ -n ${second_pid:-} ]] || return 0
  kill -- "-$second_pid" 2>/dev/null || true
  in_second_lane scripts/cluster down >/dev/null 2>&1 || true
}
