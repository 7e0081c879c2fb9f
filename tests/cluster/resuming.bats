# Recordings that are ended and go on, on a real cluster: requeued, killed with their node's daemon, terminated. Each
# shows that its job was started twice, and that the run has the log of one that was never ended.

load helpers
load training

setup_file() { use_cluster_and_store; }

teardown_file() { release_cluster; }

setup() {
  cd "$BATS_TEST_TMPDIR"
  job=
}

teardown() {
  rm -f "${FLOR_TEST_HOLD:-/nowhere}"/hold.*
  [[ -z $job ]] || scancel "$job"
  "$cluster" up >/dev/null
}

# train NAME PROGRAM [FLAG…]: a batch job that records the program in a step; sets job.
train() {
  local name=$1 file
  file=$(program "$2")
  shift 2
  export FLOR_EVERY=1
  job=$(submit --job-name "$name" --requeue --open-mode=append --output "$name.out" --nodelist n1 "$@" --wrap \
    "srun --ntasks=1 --flor-record --flor-store=$FLOR_STORE --flor-name=$name $file ${small[*]}")
}

# again: the job was put back into the queue; Slurm would leave it there for some time.
again() {
  until_true 30 job_is "$job" PENDING
  rm -f "$FLOR_TEST_HOLD"/hold.*
  scontrol update "JobId=$job" StartTime=now
  until_true 60 job_is "$job" COMPLETED
  [[ $(scontrol show job "$job" | grep -o 'Restarts=[0-9]*') == Restarts=1 ]]
}

# whole NAME PROGRAM: the run of that name is one, recorded in two attempts, with the rows of a plain run.
whole() {
  run_manifest=$(run_dir "$1")/run.json
  [[ $(jq -r '"\(.status) \(.attempt)"' "$run_manifest") == "completed 1" ]]
  [[ $(flor runs --json | jq --arg name "$1" '[.[] | select(.name == $name)] | length') -eq 1 ]]
  equals_sequential "$1" "$2" loss,validation_loss,grad_norm
}

@test "a requeued job goes on with its recording behind its newest checkpoint" {
  for program in char_lm.held char_lm.complete.held; do
    hold 5
    train "requeued.$program" "$program"
    held 5
    scontrol requeue "$job"
    again
    grep -q "resuming the recording of run" "requeued.$program.out"
    whole "requeued.$program" "$program"
    replay=
    FLOR_TEST_HOLD='' run flor replay "requeued.$program" --workers 3 -- "$(program "$program")" "${small[@]}"
    [[ $status -eq 0 && $output == *identical* ]]
    rm -f "$FLOR_TEST_HOLD"/held.*
  done
}
