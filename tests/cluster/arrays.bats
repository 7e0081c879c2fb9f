# Job arrays and jobs of several steps, which Slurm requeues as a whole, on a real cluster.

load helpers
load small

setup_file() {
  export FLOR_CLUSTER_DIR=/tmp/flor-cluster-arrays-$$ FLOR_CLUSTER_NODES=y
  small_store
}

teardown_file() { "$cluster" down; }

setup() {
  cd "$BATS_TEST_TMPDIR"
  job=
}

teardown() { [[ -z $job ]] || scancel "$job"; }

restarts_of() { scontrol show job "$1" | grep -o 'Restarts=[0-9]*' | cut -d= -f2; }

# in_state STATE ID…
in_state() {
  local id state=$1
  shift
  for id in "$@"; do job_is "$id" "$state" || return 1; done
}

being_preempted() { squeue --noheader --jobs "$1" --Format PreemptTime:. | grep -q '^ *[0-9]'; }

both_have_begun() { [[ $(compgen -G "$FLOR_STORE/.launches/$UID/.*.$job.*.begun" | wc -l) -eq 2 ]]; }

again() {
  local try
  for try in 1 2 3 4 5 6; do
    start_again "$1"
    until_true 15 job_is "$1" COMPLETED && return
  done
  return 1
}

@test "of an array the task that is preempted is requeued, and no other one" {
  scontrol update PartitionName=main GraceTime=40
  # The last task to start has the number of the array. It is held in epoch 3.
  job=$(submit --array=0-1%1 --requeue --open-mode=append --output out.%a --nodelist y1 --wrap "[ \$SLURM_ARRAY_TASK_ID = 0 ] ||
    hold='--hold=3 --in=recording --until=$PWD/until'; FLOR_EVERY=100 srun --ntasks=1 --flor-record \
    --flor-store=$FLOR_STORE $small_program train --guard --sleep=5 \$hold")
  until_true 60 test -s until.reached
  [[ $(scontrol show job "${job}_1" | grep -o '^JobId=[0-9]*') == "JobId=$job" ]]
  job_is "${job}_0" COMPLETED
  srun --partition urgent --nodelist y1 --exclusive true 3>&- &
  urgent=$!
  until_true 40 being_preempted "${job}_1"
  touch until
  wait "$urgent"
  again "${job}_1"
  scontrol update PartitionName=main GraceTime=0
  grep -q "the job is requeued" out.1
  grep -q "resumed behind epoch=3" out.1
  [[ $(restarts_of "${job}_1") == 1 && $(restarts_of "${job}_0") == 0 ]]
  [[ $(grep -c "recording run" out.0) -eq 1 ]]
}

@test "tasks of an array that are given one name are all recorded: the first one has it" {
  job=$(submit --array=0-2%1 --output named.%a --flor-record --flor-store="$FLOR_STORE" --flor-name=sweep \
    --wrap "$small_program train --guard")
  until_true 60 in_state COMPLETED "${job}_0" "${job}_1" "${job}_2"
  [[ $(flor runs --json | jq '[.[] | select(.name == "sweep")] | length') -eq 1 ]]
  ! grep -q "is taken" named.0
  [[ $(tail -n 1 "$FLOR_STORE/.names/$UID/sweep/jobs") == "flor.$job" ]]
  # The dashboard shows them together.
  [[ $(jq -r --arg job "$job" 'select(.slurm.array == $job) | .slurm.task' "$FLOR_STORE"/*/run.json | sort | tr '\n' ' ') == "0 1 2 " ]]
  for task in 1 2; do
    [[ $(grep -c "the name 'sweep' is taken by another run; this one goes by its id" "named.$task") -eq 1 ]]
    grep -q "recorded run" "named.$task"
  done
}

@test "a step beside the training does not keep it from its run, though its environment is another" {
  job=$(submit --requeue --open-mode=append --output beside --flor-record --flor-store="$FLOR_STORE" --wrap "
    rm -f $PWD/watching
    srun --overlap --ntasks=1 sh -c 'touch $PWD/watching; exec sleep 1000' & echo \$! >$PWD/watcher
    until [ -e $PWD/watching ]; do sleep 0.1; done
    export RUN_TMP=\$(mktemp -u -d)
    FLOR_EVERY=1 srun --overlap --ntasks=1 $small_program train --guard --hold=3 --in=recording --until=$PWD/until
    code=\$?; kill %1; exit \$code")
  until_true 60 test -s until.reached
  until_true 20 both_have_begun
  # As with its node: the mark of its step stays.
  kill -KILL "$(cat watcher)"
  scontrol requeue "$job"
  until_true 30 job_is "$job" PENDING
  touch until
  again "$job"
  grep -q "resuming the recording of run" beside
  ! grep -q "is not resumed" beside
}

@test "a step that Slurm ended before its loop is known when the job starts again, and takes no other's run" {
  cat >step.sh <<STEP
[ "\$SEED" = 1 ] || [ -e again ] || { touch waiting; exec sleep 1000; }
exec $small_program train --guard --hold=3 --in=recording --until=$PWD/until
STEP
  # The second time, the steps have each other's number.
  job=$(submit --requeue --open-mode=append --output swapped -n2 --wrap "
    step() { SEED=\$1 FLOR_EVERY=1 srun --exact --ntasks=1 --flor-record --flor-store=$FLOR_STORE sh step.sh >>out.\$1 2>&1 & }
    if [ -e again ]; then step 2; sleep 2; step 1; else step 1; sleep 2; step 2; fi; wait")
  until_true 60 test -s until.reached
  until_true 60 test -e waiting
  until_true 20 both_have_begun
  touch again
  scontrol requeue "$job"
  until_true 30 job_is "$job" PENDING
  both_have_begun
  touch until
  again "$job"
  ! grep -q "resuming the recording" out.2
  grep -q "recording run" out.2
}
