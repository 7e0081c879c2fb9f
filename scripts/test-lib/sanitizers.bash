# Tests of code without LibTorch. All run under the address and undefined sanitizers; those of what has threads also under
# the thread sanitizer. Sourced by scripts/test.
# shellcheck shell=bash disable=SC2154

# Left out: what computes long, and alone; forks, whose pages of the sanitizer cost more than what they test; and what
# measures memory, since a sanitizer keeps what was freed.
without='Profiles.*:ForeignRun.ATimeline*:ForeignRun.ManyLoops*:Joined.HundredThousand*:Index.ARunWithMore*'
without+=':*/Children.NeedNoLockOfTheProgram/*:ParseJson.ReadsAMillion*:LogOfRuns.EmptyCells*'
# The longest first.
threaded_tests=(core_test agent_test queue_test logging_test)
other_tests=(materialize_test probes_test dashboard_test plan_test results_test sql_test commands_test dispatch_test)

# report FOLDER PROGRAM STATUS SECONDS: says how the program ended; what it wrote only if it failed. Leaves PROGRAM.passed,
# or PROGRAM.found where a sanitizer found something.
report() {
  local log=$1/$2.log
  if (($3 == 0)); then
    echo "  $2: $(grep -c '^\[       OK' "$log") tests passed, $4 s" | tee "$1/$2.passed"
    return
  fi
  grep -v '^\[ *\(RUN\|OK\|-*\) *\]' "$log" >&2 || true
  echo "  $2: FAILED with exit code $3" >&2
  ! grep -q 'Sanitizer: \|runtime error: ' "$log" || cp "$log" "$1/$2.found"
  return 1
}

# run_programs FOLDER PROGRAM…: twice as many at a time as there are cores. Every ten seconds a line says where those that
# run are. A program that failed beside the cluster's tests runs again, unless a sanitizer found something: it may only
# have had too little time.
run_programs() {
  local folder=$1 program pid status failed=0 waited=0 queue=()
  local -A running=() begun=()
  for program in "${@:2}"; do
    if [[ -e $folder/$program.passed ]]; then
      cat "$folder/$program.passed"
    elif [[ -e $folder/$program.found ]]; then
      cat "$folder/$program.found" >&2
      echo "  $program: a sanitizer found something beside the cluster's tests" >&2
      failed=1
    else
      queue+=("$program")
    fi
  done
  while ((${#queue[@]} + ${#running[@]} > 0)); do
    while ((${#queue[@]} > 0 && ${#running[@]} < jobs * 2)); do
      program=${queue[0]} queue=("${queue[@]:1}")
      "$folder/bin/$program" --gtest_filter="${name:+*$name*}-$without" >"$folder/$program.log" 2>&1 &
      running[$!]=$program begun[$!]=$SECONDS
    done
    sleep 1
    for pid in "${!running[@]}"; do
      kill -0 "$pid" 2>/dev/null && continue
      status=0
      wait "$pid" || status=$?
      report "$folder" "${running[$pid]}" "$status" $((SECONDS - begun[$pid])) || failed=1
      unset "running[$pid]"
    done
    ((++waited % 10)) || for pid in "${!running[@]}"; do
      program=${running[$pid]}
      echo "  … $program: $(grep -c '^\[       OK' "$folder/$program.log") tests," \
        "now $(grep '^\[ RUN' "$folder/$program.log" | tail -n 1 | cut -c14-)"
    done
  done
  return "$failed"
}

# sanitize KIND TARGET…: builds flor-agent and the targets under the sanitizers KIND. With clang, where it is there: GCC
# takes half as long again.
sanitize() {
  local folder=build/sanitize-${1%%,*} compilers=()
  ! command -v clang++ >/dev/null || compilers=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
  # CMake cannot change the compiler of a folder.
  [[ ${#compilers[@]} -eq 0 ]] || grep -qs '^CMAKE_CXX_COMPILER:.*clang++$' "$folder/CMakeCache.txt" || rm -rf "$folder"
  cmake -S . -B "$folder" -G Ninja -DFLOR_TORCH=OFF -DFLOR_SPANK=OFF -DFLOR_UNITY=ON -DFLOR_SANITIZE="$1" \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS='-O1 -g1' "${compilers[@]}" >/dev/null
  cmake --build "$folder" -j "$jobs" --target flor-agent "${@:2}"
}

build_address() { sanitize address,undefined "${threaded_tests[@]}" "${other_tests[@]}" fuzz; }

# Those that run under the thread sanitizer. Beside all other parts there is no time for the longest, core_test: it runs
# where `sanitize-thread` or `build-sanitizers` is asked for.
choose_thread_tests() {
  thread_tests=("${threaded_tests[@]}")
  [[ " ${parts[*]} " != *" sanitizers "* ]] || thread_tests=("${threaded_tests[@]:1}")
}

build_thread() {
  choose_thread_tests
  sanitize thread "${thread_tests[@]}"
}

run_address() { run_programs build/sanitize-address "${threaded_tests[@]}" "${other_tests[@]}"; }

run_thread() {
  choose_thread_tests
  run_programs build/sanitize-thread "${thread_tests[@]}"
}

build_sanitizers() {
  build_address
  build_thread
}

# In the background, builds everything and runs the tests, but not the fuzzer, while other parts use one core or wait for
# Slurm. Does nothing where it was begun, or where the part `sanitizers` is not asked for, which later does what is left.
begin_sanitizers() {
  [[ " ${parts[*]} " == *" sanitizers "* && -z ${sanitizers_pid:-} ]] || return 0
  set -m  # its own process group, so that all of it can be ended
  {
    renice -n 19 "$BASHPID" >/dev/null
    build_sanitizers
    run_address || true
    run_thread
  } >build/sanitizers.log 2>&1 </dev/null &
  set +m
  sanitizers_pid=$!
}

# end_sanitizers [kill]: waits for the run in the background and shows its output; with `kill`, ends it.
end_sanitizers() {
  [[ -n ${sanitizers_pid:-} ]] || return 0
  if [[ -n ${1:-} ]]; then
    kill -- "-$sanitizers_pid" 2>/dev/null || true
  else
    tail -n +1 -f --pid="$sanitizers_pid" build/sanitizers.log
  fi
  wait "$sanitizers_pid" || true
  sanitizers_pid=''
}

# forget_sanitizers: removes the marks of earlier runs.
forget_sanitizers() { rm -f build/sanitize-*/*.{passed,found}; }

sanitize_address() {
  end_sanitizers
  build_address
  run_address
  [[ -n $name ]] || (cd build/sanitize-address && bin/fuzz --seconds 10 --jobs "$jobs")
}

sanitize_thread() {
  end_sanitizers
  build_thread
  run_thread
}

sanitizers() {
  sanitize_address
  sanitize_thread
}
