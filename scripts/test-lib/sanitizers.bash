# The tests of what has no LibTorch: all under address and undefined, those of what has threads under thread. Sourced by
# scripts/test.
# shellcheck shell=bash disable=SC2154

threaded_tests=(agent_test queue_test core_test logging_test)
other_tests=(dashboard_test materialize_test probes_test plan_test results_test commands_test dispatch_test)

# run_programs FOLDER PROGRAM…: as many at a time as there are cores. What a program writes is shown when it failed;
# every ten seconds a line says where those that run are.
run_programs() {
  local folder=$1 program pid done_pid status failed=0 waited=0
  local -A running=() begun=()
  local queue=("${@:2}")
  while ((${#queue[@]} + ${#running[@]} > 0)); do
    while ((${#queue[@]} > 0 && ${#running[@]} < jobs)); do
      program=${queue[0]} queue=("${queue[@]:1}")
      "$folder/bin/$program" ${name:+--gtest_filter="*$name*"} >"$folder/$program.log" 2>&1 &
      running[$!]=$program begun[$!]=$SECONDS
    done
    sleep 1
    for pid in "${!running[@]}"; do
      kill -0 "$pid" 2>/dev/null && continue
      program=${running[$pid]}
      status=0
      wait "$pid" || status=$?
      unset "running[$pid]"
      if ((status == 0)); then
        echo "  $program: $(grep -c '^\[       OK' "$folder/$program.log") tests passed, $((SECONDS - begun[$pid])) s"
      else
        grep -v '^\[ *\(RUN\|OK\|-*\) *\]' "$folder/$program.log" >&2
        echo "  $program: FAILED with exit code $status" >&2
        failed=1
      fi
    done
    ((++waited % 10)) || for pid in "${!running[@]}"; do
      program=${running[$pid]}
      echo "  … $program: $(grep -c '^\[       OK' "$folder/$program.log") tests," \
        "now $(grep '^\[ RUN' "$folder/$program.log" | tail -n 1 | cut -c14-)"
    done
  done
  return "$failed"
}

# sanitize KIND TARGET…: builds them under the sanitizer.
sanitize() {
  local folder=build/sanitize-${1%%,*}
  cmake -S . -B "$folder" -G Ninja -DFLOR_TORCH=OFF -DFLOR_SPANK=OFF -DFLOR_UNITY=ON -DFLOR_SANITIZE="$1" \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS='-O1 -g1' >/dev/null
  cmake --build "$folder" -j "$jobs" --target flor-agent "${@:2}"
}

build_address() { sanitize address,undefined "${threaded_tests[@]}" "${other_tests[@]}" fuzz; }

build_thread() { sanitize thread "${threaded_tests[@]}"; }

# Builds both in the background, while the cluster's tests wait for Slurm. What fails here fails again, and is shown, in
# the part itself.
begin_sanitizers() {
  set -m  # its own process group, so that all of it can be ended
  { nice -n 19 "$root/scripts/test" build-sanitizers >build/sanitizers.log 2>&1 </dev/null; } &
  set +m
  sanitizers_pid=$!
}

# end_sanitizers [kill]: waits for what begin_sanitizers began, or ends it.
end_sanitizers() {
  [[ -n ${sanitizers_pid:-} ]] || return 0
  [[ -z ${1:-} ]] || kill -- "-$sanitizers_pid" 2>/dev/null || true
  wait "$sanitizers_pid" || true
  sanitizers_pid=''
}

build_sanitizers() {
  build_address
  build_thread
}

sanitize_address() {
  end_sanitizers
  build_address
  run_programs build/sanitize-address "${threaded_tests[@]}" "${other_tests[@]}"
  [[ -n $name ]] || (cd build/sanitize-address && bin/fuzz --seconds 10 --jobs "$jobs")
}

sanitize_thread() {
  end_sanitizers
  build_thread
  run_programs build/sanitize-thread "${threaded_tests[@]}"
}

sanitizers() {
  sanitize_address
  sanitize_thread
}
