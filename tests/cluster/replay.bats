# Recording through srun and sbatch, replay through `flor replay`, sbatch and srun, on a real cluster.

load helpers
load training

setup_file() {
  use_cluster_and_store
  record complete char_lm.complete
  record partial char_lm
}

teardown_file() { release_cluster; }

setup() {
  cd "$BATS_TEST_TMPDIR"
  unset FLOR_TEST_HOLD
  flor_pid=''
}

teardown() { end_replay; }

inner=loss,validation_loss,grad_norm,weight_norm
outer=loss,validation_loss,weight_norm

# a_unit_each: four array tasks are held in a unit each, so that every one of them has something to commit; the last
# unit stays held until what is committed was read from Redis.
a_unit_each() {
  until_true 60 held_by_four
  let_go 0 1 2 3 4 5 6
  until_true 60 seven_done
  for unit in {0..6}; do
    worker=$(done_by "$unit")
    echo "unit $unit $(in_queue hmget "worker:$worker" job task node | paste -sd' ')"
  done | tee "committed"
  let_go 7
}

held_by_four() { [[ $(cat "$FLOR_TEST_HOLD"/held.[0-7] 2>/dev/null | cut -d' ' -f2 | sort -u | wc -l) -eq 4 ]]; }

seven_done() { [[ $(in_queue hlen "done") -eq 7 ]]; }

@test "recorded under srun: the rows are those of a plain run, and flor runs lists it" {
  for name in complete partial; do
    "$(program char_lm)" "${small[@]}" | cmp - "$BATS_FILE_TMPDIR/$name.out"
    [[ $(flor runs --json | jq -r ".[] | select(.name == \"$name\") | \"\(.status) \(.progress)\"") == "completed 8/8" ]]
  done
}

@test "an inner probe over four array tasks: identical, and equal to a sequential run" {
  hold {0..7}
  start_replay complete char_lm.complete.held
  a_unit_each
  finish_replay
  # Redis: who committed. Four tasks did; one of them maybe the last unit alone.
  job=$(cat "$replay/workers/jobs")
  [[ $(grep -oE "^unit [0-6] $job [0-3]" committed | cut -d' ' -f4 | sort -u | wc -l) -ge 3 ]]
  # A copy of the last unit may have been faster than the task that held it.
  [[ $(verdict "$replay" '[.workers[] | select(.units | length > 0) | .task] | unique | length') -ge 3 ]]
  # Slurm: four tasks of one array ran to a good end.
  scontrol -o show job "$job" >jobs
  for task in 0 1 2 3; do grep "ArrayTaskId=$task " jobs | grep -q 'JobState=COMPLETED .*ExitCode=0:0'; done
  [[ $(verdict "$replay" '"\(.values) \([.units[].executed] | add)"') == "32 8" ]]
  equals_sequential complete char_lm.complete.held "$inner"
}

@test "partial checkpoints, an inner probe over four array tasks" {
  start_replay partial char_lm.probed
  finish_replay
  [[ $(verdict "$replay" '[.units[].executed] | add') -eq 8 ]]
  equals_sequential partial char_lm.probed "$inner"
}

@test "an outer probe executes no block" {
  for name in partial complete; do
    probed=char_lm.outer
    [[ $name == partial ]] || probed=char_lm.complete.outer
    start_replay "$name" "$probed"
    finish_replay
    [[ $(verdict "$replay" '"\([.units[].executed] | add) \([.units[].skipped] | add)"') == "0 8" ]]
    run -0 flor show "$name/$(basename "$replay")"
    [[ $output == *"executes: no block"* ]]
    equals_sequential "$name" "$probed" "$outer"
  done
}

@test "epochs that are asked for, and no others" {
  start_replay complete char_lm.complete.probed
  finish_replay
  start_replay complete char_lm.complete.held 2 --epochs 3:5
  finish_replay
  [[ $(cat "$replay/log.jsonl" | jq -r .epoch | sort -u | paste -sd' ') == "3 4" ]]
}

@test "replay takes what is free: --workers auto" {
  flor replay complete --again -- "$(program char_lm.complete.held)" "${small[@]}" >auto.out 3>&-
  grep -qE 'slurm: job [0-9]+, 8 tasks' auto.out || { cat auto.out >&2; return 1; }
}

@test "--workers auto grows into what becomes free" {
  blocker=$(submit -N3 --gres=gpu:2 -o /dev/null --wrap 'srun --gres=gpu:2 sleep 300')
  until_true 30 job_is "$blocker" RUNNING
  hold {0..7}
  start_replay complete char_lm.complete.held auto
  grep -qE 'slurm: job [0-9]+, 2 tasks' replay.out || { cat replay.out >&2; return 1; }
  scancel "$blocker"
  until_true 60 said '6 places became free: job [0-9]+, [0-9]+, 8 tasks'
  until_true 60 held_by_many
  let_go {0..7}
  finish_replay
  [[ $(verdict "$replay" '[.workers[] | select(.units | length > 0)] | length') -gt 2 ]]
}

@test "a worker knows when its job's time limit ends it" {
  hold 0
  before=$(date +%s)
  start_replay complete char_lm.complete.held 2 --time 7
  held 0
  limit=$(tr '\0' '\n' <"/proc/$held_pid/environ" | sed -n 's/^FLOR_JOB_END=//p')
  ((limit >= before + 420 && limit <= $(date +%s) + 421))
  let_go 0
  finish_replay
}

held_by_many() { [[ $(cat "$FLOR_TEST_HOLD"/held.[0-7] 2>/dev/null | cut -d' ' -f1 | sort -u | wc -l) -gt 2 ]]; }

# --- by hand

# recorded_by JOB STEP: prints the id of the run that the step recorded.
recorded_by() { cat "$FLOR_STORE/.launches/$UID/flor.$1.$2.0"; }

# job_script FLAGS LINE…
job_script() {
  printf '#!/bin/bash\n#SBATCH --flor-store=%s -o %s/out-%%a\n#SBATCH %s\n' "$FLOR_STORE" "$PWD" "$1"
  shift
  printf '%s\n' "$@"
}

@test "sbatch --flor-record: a step of the job, and a job without a step, are recorded" {
  job_script --flor-record "srun $(program char_lm) ${small[*]}" >step.sh
  job_script --flor-record "$(program char_lm) ${small[*]}" >plain.sh
  step=$(sbatch -W --parsable step.sh)
  plain=$(sbatch -W --parsable plain.sh)
  for run in "$(recorded_by "$step" 0)" "$(recorded_by "$plain" batch)"; do
    [[ $(jq -r '"\(.status) \(.exit_code)"' "$FLOR_STORE/$run/run.json") == "completed 0" ]]
    cmp "$FLOR_STORE/$run/log.jsonl" "$(run_dir partial)/log.jsonl"
  done
}

@test "sbatch --flor-replay --array: the tasks agree on one replay, and the verdict is there at the end" {
  before=$(find "$(run_dir complete)/replays" -mindepth 1 -maxdepth 1 -type d | wc -l)
  job_script "--flor-replay=complete --array=0-3" "srun $(program char_lm.complete.held) ${small[*]}" >job.sh
  hold {0..7}
  job=$(submit job.sh)
  replay=$(run_dir complete)/replays/job-flor-$job
  a_unit_each
  for task in 0 1 2 3; do until_true 60 ended_well "$job" "$task"; done
  [[ $(verdict "$replay" .verdict) == identical ]]
  [[ $(find "$(run_dir complete)/replays" -mindepth 1 -maxdepth 1 -type d | wc -l) -eq $((before + 1)) ]]
  # A copy of the last unit may have been faster than the task that held it.
  [[ $(verdict "$replay" '[.workers[] | select(.units | length > 0) | .task] | unique | length') -ge 3 ]]
  equals_sequential complete char_lm.complete.held "$inner"
}

ended_well() { scontrol -o show job "$1_$2" | grep -q 'JobState=COMPLETED .*ExitCode=0:0'; }

@test "sbatch --flor-replay --array without srun inside" {
  job_script "--flor-replay=partial --array=0-3" "$(program char_lm.probed) ${small[*]}" >job.sh
  job=$(sbatch -W --parsable job.sh)
  replay=$(run_dir partial)/replays/job-flor-$job
  [[ $(verdict "$replay" .verdict) == identical ]]
  equals_sequential partial char_lm.probed "$inner"
}

@test "srun -n2 --flor-replay: two workers" {
  hold {0..7}
  srun -n2 --flor-replay=complete --flor-store="$FLOR_STORE" "$(program char_lm.complete.held)" "${small[@]}" \
    >step.out 2>&1 3>&- &
  step=$!
  until_true 60 two_held
  let_go {0..7}
  wait "$step"
  replay=$(replay_dir complete)
  [[ $(verdict "$replay" '"\(.verdict) \([.workers[] | select(.units | length > 0)] | length)"') == "identical 2" ]]
}

two_held() { [[ $(cat "$FLOR_TEST_HOLD"/held.[0-7] 2>/dev/null | cut -d' ' -f1 | sort -u | wc -l) -eq 2 ]]; }

@test "srun --flor-replay with --flor-epochs and --flor-probe" {
  srun --flor-replay=partial --flor-store="$FLOR_STORE" --flor-epochs=2:4 --flor-probe=none \
    "$(program char_lm.outer)" "${small[@]}" 3>&-
  replay=$(replay_dir partial)
  [[ $(jq -c '[.selected, .execute.blocks]' "$replay/plan.json") == '[[[2,4]],[]]' ]]
  [[ $(jq -r .epoch "$replay/log.jsonl" | sort -u | paste -sd' ') == "2 3" ]]
}

@test "a job asks one question; another one is refused" {
  job_script --flor-replay=complete "srun $(program char_lm.complete.probed) ${small[*]} || exit 9" \
    "srun $(program char_lm.complete.outer) ${small[*]}" >job.sh
  run -1 sbatch -W --parsable job.sh
  replay=$(run_dir complete)/replays/job-flor-${lines[0]}
  [[ $(verdict "$replay" .verdict) == identical ]]
  cat out-* >&2
  grep -q "replay job-flor-${lines[0]} of run .* answers another question" out-*
}

@test "a replay by hand that differs ends with 3" {
  log=$(run_dir partial)/log.jsonl
  cp "$log" kept.jsonl
  sed -i '1s/"value":[^,]*/"value":1.5/' "$log"
  job_script --flor-replay=partial "exec srun $(program char_lm.probed) ${small[*]}" >job.sh
  run -3 sbatch -W --parsable job.sh
  cp kept.jsonl "$log"
  replay=$(run_dir partial)/replays/job-flor-${lines[0]}
  [[ $(verdict "$replay" .verdict) == differs && ! -e $replay/failure.json ]]
  grep -q 'first difference: loss at' out-*
}

@test "slurmctld is asked for nothing by units: 80 of them cost what four workers and their time cost" {
  args=(--epochs 80 "${small[@]:2}")
  FLOR_EVERY=1 srun --flor-record --flor-name=many "$(program char_lm.complete)" "${args[@]}" >/dev/null
  sdiag --reset
  begin=$SECONDS
  run -0 flor replay many --workers 4 -- "$(program char_lm.complete.probed)" "${args[@]}"
  sdiag | sed -nE 's/^[[:space:]]*(REQUEST_[A-Z_]+) .*count:([0-9]+).*/\1 \2/p' | tee asked
  [[ $output == *"80 units"*": identical"* ]]
  grep -qx 'REQUEST_JOB_STEP_CREATE 8' asked
  # Of what a job and its two steps ask, at most twice for each worker. Listings: one by each, one every three seconds, and
  # at most fourteen while the last ones leave.
  [[ -z $(awk '$1 !~ /_INFO/ && $2 > 8' asked) ]]
  [[ $(sed -n 's/^REQUEST_JOB_INFO[A-Z_]* //p' asked | paste -sd+ | bc) -le $((4 + 1 + (SECONDS - begin) / 3 + 14)) ]]
}

@test "a replay from within a job that records" {
  run -0 salloc -n1 --flor-record --flor-store="$FLOR_STORE" --flor-name=within \
    flor replay complete --again --workers 2 -- "$(program char_lm.complete.outer)" "${small[@]}"
  [[ $output == *": identical"* ]]
}

@test "a session's directory that the node does not have" {
  XDG_RUNTIME_DIR=/run/user/nobody start_replay partial char_lm.outer 2
  finish_replay
}

@test "recorded under nohup: a hangup ends nothing" {
  nohup flor record --every 1 --name nohup -- "$(program char_lm)" --epochs 40 "${small[@]:2}" >nohup.out 2>&1 3>&- &
  pid=$!
  until_true 60 grep -q '^epoch=2 validation_loss' nohup.out
  program=$(pgrep -P "$pid" -x char_lm)
  kill -HUP "$pid" "$program"
  wait "$pid"
  [[ $(jq -r .status "$(run_dir nohup)/run.json") == completed ]]
}
