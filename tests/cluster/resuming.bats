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
  export FLOR_EVERY=${FLOR_TEST_EVERY:-1}
  job=$(submit --job-name "$name" --requeue --open-mode=append --output "$name.out" --nodelist n1 "$@" --wrap \
    "srun --ntasks=1 --flor-record --flor-store=$FLOR_STORE --flor-name=$name $file ${small[*]}")
}

# again: the job was put back into the queue, and goes on.
again() {
  until_true 30 job_is "$job" PENDING
  rm -f "$FLOR_TEST_HOLD"/hold.*
  local try
  for try in 1 2 3 4 5 6; do
    start_again "$job"
    until_true 15 job_is "$job" COMPLETED && break
    ((try < 6))
    # On a busy machine Slurm's late order to end the job meets the one that it has just started.
    ! scontrol show job "$job" | grep -q 'Reason=JobLaunchFailure' || scontrol requeue "$job"
  done
  [[ $(scontrol show job "$job" | grep -o 'Restarts=[0-9]*') == Restarts=[12] ]]
}

# The processes that watch over the job's steps. Another cluster on this machine may have a job of this number.
steps_of_job() {
  local pid
  for pid in $(pgrep -f "^slurmstepd: \\[$job\\."); do
    ! privileged grep -qzx "SLURM_CONF=$SLURM_CONF" "/proc/$pid/environ" || echo "$pid"
  done
}

# With the node the script, its srun and the program are gone, too.
kill_processes_of_job() {
  local environment
  for environment in /proc/[0-9]*/environ; do
    if grep -qzx "SLURM_JOB_ID=$job" "$environment" && grep -qzx "SLURM_CONF=$SLURM_CONF" "$environment"; then
      privileged kill -KILL "$(basename "$(dirname "$environment")")" || true
    fi
  done 2>/dev/null
}

# SIGTERM was sent.
being_preempted() { squeue --noheader --jobs "$job" --Format PreemptTime:. | grep -q '^ *[0-9]' || job_is "$job" COMPLETING; }

node_is_up() { scontrol show node "$1" | grep -qE 'State=(IDLE|MIXED|ALLOCATED)( |$)'; }

# whole NAME PROGRAM: the run of that name is one, recorded in two attempts, with the rows of a plain run.
whole() {
  run_manifest=$(run_dir "$1")/run.json
  [[ $(jq -r '"\(.status) \(.attempt)"' "$run_manifest") == "completed 1" ]]
  [[ $(flor runs --json | jq --arg name "$1" '[.[] | select(.name == $name)] | length') -eq 1 ]]
  joined_equals_sequential "$1" "$2" loss,validation_loss,grad_norm
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

@test "a preempted job takes a last checkpoint, is requeued, and goes on; also where it ends within its grace time" {
  for grace in 0 20; do
    scontrol update PartitionName=main "GraceTime=$grace"
    hold 5
    FLOR_TEST_EVERY=100 train "preempted.$grace" char_lm.complete.held
    held 5
    srun --partition urgent --nodelist n1 --exclusive true 3>&- &
    urgent=$!
    until_true 40 being_preempted
    sleep 0.3
    let_go 5
    wait "$urgent"
    again
    grep -q "terminated: a last checkpoint is taken" "preempted.$grace.out"
    grep -q "resumed behind epoch=5" "preempted.$grace.out"
    [[ $grace -eq 0 ]] || grep -q "the job is requeued" "preempted.$grace.out"
    whole "preempted.$grace" char_lm.complete.held
    rm -f "$FLOR_TEST_HOLD"/held.*
  done
  scontrol update PartitionName=main GraceTime=0
}

@test "a preempted job of a partition that cancels takes a last checkpoint, and is not requeued" {
  scontrol update PartitionName=main GraceTime=20 PreemptMode=CANCEL
  hold 5
  FLOR_TEST_EVERY=100 train cancelled char_lm.complete.held
  held 5
  srun --partition urgent --nodelist n1 --exclusive true 3>&- &
  urgent=$!
  until_true 40 being_preempted
  let_go 5
  wait "$urgent"
  until_true 40 grep -q "terminated: a last checkpoint is taken$" cancelled.out
  [[ $(scontrol show job "$job") != *JobState=PENDING* && $(scontrol show job "$job") == *"Restarts=0 "* ]]
  scontrol update PartitionName=main GraceTime=0 PreemptMode=REQUEUE
}

@test "a node that dies takes the job with it: it goes on when Slurm starts it again" {
  hold 5
  train fallen char_lm.complete.held
  held 5
  slurmd=$(pgrep -f 'slurmd.* -N n1( |$)' | head -n 1)
  [[ -n $slurmd ]]
  privileged kill -KILL "$slurmd"
  privileged kill -KILL $(steps_of_job)
  kill_processes_of_job
  scontrol update NodeName=n1 State=DOWN Reason=fallen
  until_true 30 job_is "$job" PENDING
  "$cluster" up >/dev/null
  until_true 30 node_is_up n1
  again
  whole fallen char_lm.complete.held
}

@test "a time limit: SIGTERM takes a last checkpoint, and another job goes on with --flor-resume" {
  hold 5
  job=$(FLOR_EVERY=100 submit --job-name limited --output limited.out --nodelist n1 --wrap "srun --ntasks=1 --flor-record \
    --flor-store=$FLOR_STORE --flor-name=limited $(program char_lm.complete.held) ${small[*]}")
  held 5
  # What the time limit does, without waiting a minute for it: SIGTERM to the step's tasks.
  scancel --signal=TERM "$job.0"
  sleep 0.2
  let_go 5
  until_true 30 gone "$held_pid"
  grep -q "terminated: a last checkpoint is taken" limited.out
  FLOR_EVERY=100 run srun --ntasks=1 --flor-resume=limited --flor-store="$FLOR_STORE" "$(program char_lm.complete.held)" "${small[@]}"
  [[ $status -eq 0 && $output == *"resumed behind epoch=5"* ]]
  whole limited char_lm.complete.held
}

@test "what cannot be gone on with fails the task at once, with one line" {
  hold 2
  train open char_lm.complete.held
  held 2
  run srun --ntasks=1 --flor-resume=open --flor-store="$FLOR_STORE" "$(program char_lm.complete.held)" "${small[@]}"
  [[ $status -ne 0 ]]
  one_line "cannot be resumed: process $held_pid on n1 is recording it"
  run srun --ntasks=1 --flor-resume=nobody --flor-store="$FLOR_STORE" "$(program char_lm.complete.held)" "${small[@]}"
  [[ $status -ne 0 && $output == *"--flor-resume=nobody: no such run in store"* ]]
  run srun --ntasks=1 --flor-resume=a/b true
  [[ $status -ne 0 && $output == *"not a run"* ]]
  let_go 2
  until_true 60 job_is "$job" COMPLETED
  run srun --ntasks=1 --flor-resume=open --flor-store="$FLOR_STORE" "$(program char_lm.complete.held)" "${small[@]}"
  [[ $status -ne 0 ]]
  one_line "cannot be resumed: it is complete"
}
