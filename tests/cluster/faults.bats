# Kills and losses in the middle of a replay on a real cluster. Each test shows that its fault hit (who was where, by
# Redis's own records at that instant), and that the merged log is the one of an undisturbed replay, byte for byte.

load helpers
load training

setup_file() {
  use_cluster_and_store
  record main char_lm.complete
  reference main char_lm.complete.held
}

teardown_file() { release_cluster; }

setup() {
  cd "$BATS_TEST_TMPDIR"
  unset FLOR_TEST_HOLD
  flor_pid=
}

teardown() {
  end_replay
  # What a test killed comes back.
  "$cluster" up >/dev/null
}

# reference NAME PROGRAM: keeps the merged log of an undisturbed replay.
reference() {
  start_replay "$1" "$2"
  finish_replay
  cp "$replay/log.jsonl" "$BATS_FILE_TMPDIR/$1.reference"
  [[ $(grep -c grad_norm "$replay/log.jsonl") -eq 48 ]]
}

# The replay ends well, with the same log.
finish_as_undisturbed() {
  finish_replay
  cmp "$replay/log.jsonl" "$BATS_FILE_TMPDIR/main.reference"
}

node_of() { in_queue hget "worker:$(worker_of "$1")" node; }

# agent_of PID: the agent on the worker's node, whether it was there before or was started on demand.
agent_of() {
  local agent
  agent=$(ss -Hxlp | sed -n "s|.*/agent-$(node_of "$1")\.sock .*pid=\([0-9]*\),.*|\1|p")
  [[ $(<"/proc/$agent/comm") == flor-agent ]]
  echo "$agent"
}

done_count() { in_queue hlen "done"; }

at_least_done() { (($(done_count) >= $1)); }

unit_done() { [[ $(in_queue hexists "done" "$1") == 1 ]]; }

@test "a worker killed inside a unit" {
  hold 3
  start_replay main char_lm.complete.held
  held 3
  inside 3 "$held_pid"
  worker=$(worker_of "$held_pid")
  kill -KILL "$held_pid"
  # Handed back at once: by the agent, who saw the connection end, and not by the lease that ran out.
  until_true 5 has_event "kind=release .*unit=3 worker=$worker "
  [[ -z $(done_by 3) ]]
  let_go 3
  finish_as_undisturbed
  [[ $(verdict "$replay" '.workers[] | select(.units | index(3)) | .worker') != "$worker" ]]
}

@test "the only worker killed inside a unit: another one is started" {
  hold 3
  start_replay main char_lm.complete.held 1
  held 3
  inside 3 "$held_pid"
  kill -KILL "$held_pid"
  let_go 3
  finish_as_undisturbed
  said 'every worker has gone; starting others for the 5 units that are missing'
}

@test "the only worker requeued in its first unit: Slurm starts it again, and nobody starts another" {
  hold 0
  start_replay main char_lm.complete.held 1
  held 0
  inside 0 "$held_pid"
  scontrol requeue "$(squeue --noheader --name flor-replay --format %F)"
  let_go 0
  finish_as_undisturbed
  [[ $(wc -l <"$replay/workers/jobs") == 1 ]]
  ! said 'every worker has gone'
}

@test "a worker and the agent of its node killed together: the lease runs out" {
  hold 3
  start_replay main char_lm.complete.held
  held 3
  inside 3 "$held_pid"
  worker=$(worker_of "$held_pid")
  agent=$(agent_of "$held_pid")
  kill -STOP "$agent"
  kill -KILL "$held_pid" "$agent"
  until_true 25 has_event "kind=reap .*unit=3 worker=$worker "
  let_go 3
  finish_as_undisturbed
}

@test "an agent killed: its worker goes on with the same lease through the next one" {
  hold 3
  start_replay main char_lm.complete.held
  held 3
  inside 3 "$held_pid"
  worker=$(worker_of "$held_pid")
  segment=$(in_queue hget "worker:$worker" segment)
  fence=$(in_queue hget "seg:$segment" fence)
  agent=$(agent_of "$held_pid")
  kill -KILL "$agent"
  until_true 5 gone "$agent"
  # The next one renews the lease that the dead one had taken.
  before=$(in_queue zscore lease "$segment")
  until_true 15 renewed "$segment" "$before"
  [[ $(in_queue hget "seg:$segment" fence) == "$fence" ]]
  inside 3 "$held_pid"
  next=$(agent_of "$held_pid")
  let_go 3
  finish_as_undisturbed
  [[ $(verdict "$replay" '.workers[] | select(.units | index(3)) | .worker') == "$worker" ]]
  # `up` brings the node's own agent back, in the place of the one that the worker started.
  "$cluster" up
  "$cluster" status
  gone "$next"
}

# renewed SEGMENT BEFORE: its lease ends later now.
renewed() {
  local now
  now=$(in_queue zscore lease "$1")
  [[ -n $now && $now -gt $2 ]]
}

# kill_flor_in_the_middle: five units are committed, a worker waits inside unit 3.
kill_flor_in_the_middle() {
  hold 3
  start_replay main char_lm.complete.held
  held 3
  inside 3 "$held_pid"
  until_true 30 at_least_done 5
  kill -KILL "$flor_pid"
  until_true 5 gone "$flor_pid"
}

@test "flor replay killed and started again: it goes on with the same replay and the same workers" {
  kill_flor_in_the_middle
  [[ ! -e $replay/verdict.json ]]
  first=$replay
  start_replay main char_lm.complete.held
  [[ $replay == "$first" ]]
  said "going on with replay $(basename "$replay"): [5-7] of 8 units are done"
  said 'still running'
  inside 3 "$held_pid"
  let_go 3
  finish_as_undisturbed
}

@test "flor replay killed before it wrote down its job: started again, it finds it" {
  kill_flor_in_the_middle
  : >"$replay/workers/jobs"
  start_replay main char_lm.complete.held
  said 'still running'
  inside 3 "$held_pid"
  let_go 3
  finish_as_undisturbed
}

@test "flor replay killed with all its workers and the queue: started again, it goes on from the store" {
  kill_flor_in_the_middle
  scancel -n flor-replay
  until_true 30 no_jobs
  redis flushall
  first=$replay
  kept=$(stat -c '%i %Y' "$replay"/units/*)
  let_go 3
  start_replay main char_lm.complete.held
  [[ $replay == "$first" ]]
  finish_as_undisturbed
  # No unit that was there was replayed again.
  [[ $(stat -c '%i %Y' "$replay"/units/* | grep -cxF "$kept") -ge 5 ]]
}

# down_redis SIGNAL: ends Redis; it did.
down_redis() {
  local server
  server=$(<"$FLOR_CLUSTER_DIR/run/redis-server.pid")
  [[ $(<"/proc/$server/comm") == redis-server ]]
  kill "-$1" "$server"
  until_true 10 gone "$server"
  run ! redis ping
}

claims() { events 'kind=claim ' | wc -l; }

@test "Redis restarted, and a unit finished while it was down: the commit is remembered" {
  hold 3 7
  start_replay main char_lm.complete.held
  held 3
  inside 3 "$held_pid"
  until_true 30 test -e "$FLOR_TEST_HOLD/held.7"
  was=$(redis info server | grep run_id)
  claims=$(claims)
  down_redis TERM
  until_true 10 said 'Redis does not answer'
  let_go 3
  until_true 15 test -e "$(unit_file 3)"
  written=$(stat -c '%i %Y' "$(unit_file 3)")
  "$cluster" up
  [[ $(redis info server | grep run_id) != "$was" ]]
  until_true 10 said 'Redis answers again'
  until_true 10 unit_done 3
  # Nobody took it again.
  [[ $(claims) -eq $claims ]]
  let_go 7
  finish_as_undisturbed
  [[ $(stat -c '%i %Y' "$(unit_file 3)") == "$written" ]]
}

@test "Redis killed and restarted with a worker inside a unit" {
  hold 3
  start_replay main char_lm.complete.held
  held 3
  inside 3 "$held_pid"
  was=$(redis info server | grep run_id)
  down_redis KILL
  "$cluster" up
  [[ $(redis info server | grep run_id) != "$was" && ! -e $(unit_file 3) ]]
  let_go 3
  finish_as_undisturbed
}

@test "Redis emptied half-way" {
  hold 3
  start_replay main char_lm.complete.held
  held 3
  inside 3 "$held_pid"
  until_true 30 at_least_done 4
  incarnation=$(in_queue hget meta incarnation)
  redis flushall
  # It is built anew from the store, and the tokens that were out are worth nothing.
  until_true 10 rebuilt
  (($(in_queue hget meta incarnation) > incarnation))
  at_least_done 4
  [[ ! -e $(unit_file 3) ]]
  let_go 3
  finish_as_undisturbed
}

rebuilt() { [[ -n $(in_queue hget meta units) ]]; }

@test "a worker frozen beyond its lease and woken again: its late commit does not count" {
  hold 3 7
  start_replay main char_lm.complete.held
  held 3
  inside 3 "$held_pid"
  frozen=$held_pid
  worker=$(worker_of "$frozen")
  segment=$(in_queue hget "worker:$worker" segment)
  fence=$(in_queue hget "seg:$segment" fence)
  kill -STOP "$frozen"
  rm "$FLOR_TEST_HOLD/held.3"
  until_true 25 has_event "kind=reap segment=$segment unit=3 worker=$worker error=the lease .* ran out"
  # Another worker takes the unit.
  held 3
  [[ $held_pid != "$frozen" && $(ps -o stat= -p "$frozen") == T* ]]
  inside 3 "$held_pid"
  other=$(worker_of "$held_pid")
  let_go 3
  until_true 30 unit_done 3
  [[ $(done_by 3) == "$other" ]]
  written=$(stat -c '%i %Y' "$(unit_file 3)")
  redis monitor >monitor.out 3>&- &
  monitor=$!
  until_true 5 grep -q OK monitor.out
  kill -CONT "$frozen"
  # The late commit arrives, with the token of the lease that ran out.
  until_true 15 grep -E "EVALSHA.* \"$segment\" \"$fence\" \"3\" \"$worker\"" monitor.out
  # And the woken worker asks for other work.
  until_true 15 grep -E "EVALSHA.* \"$worker\" \"-1\"" monitor.out
  kill "$monitor"
  [[ $(done_by 3) == "$other" && $(events 'kind=commit .*unit=3 ' | wc -l) -eq 1 ]]
  [[ $(stat -c '%i %Y' "$(unit_file 3)") == "$written" ]]
  let_go 7
  finish_as_undisturbed
  [[ $(verdict "$replay" '[.workers[].units[]] | sort | join(",")') == 0,1,2,3,4,5,6,7 ]]
}

@test "a worker frozen inside a unit: an idle one executes it as well, and nobody waits for the lease" {
  hold 3
  copies='' start_replay main char_lm.complete.held
  held 3
  frozen=$held_pid
  worker=$(worker_of "$frozen")
  kill -STOP "$frozen"
  until_true 20 has_event "kind=copy .*unit=3 "
  [[ -z $(events "kind=reap ") ]]
  let_go 3
  finish_as_undisturbed
  [[ $(verdict "$replay" '.workers[] | select(.units | index(3)) | .worker') != "$worker" ]]
}

@test "one array task cancelled inside a unit" {
  hold 3
  start_replay main char_lm.complete.held
  held 3
  inside 3 "$held_pid"
  worker=$(worker_of "$held_pid")
  job=$(cat "$replay/workers/jobs")
  scancel "${job}_$held_task"
  until_true 30 task_is "$job" "$held_task" CANCELLED
  until_true 5 has_event "kind=release .*unit=3 worker=$worker "
  let_go 3
  finish_as_undisturbed
  [[ $(verdict "$replay" '.workers[] | select(.units | index(3)) | .task') != "$held_task" ]]
}

# task_is JOB TASK STATE
task_is() { scontrol show job "$1_$2" | grep -q "JobState=$3"; }
