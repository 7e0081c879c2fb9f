# What a user may get wrong, and disks that fail, on a real cluster. Each refusal is one clear line and an exit code
# that is not 0; nothing is started and nothing in the store changes.

load helpers
load training

setup_file() {
  use_cluster_and_store
  record main char_lm.complete
}

teardown_file() {
  remove_ordinary_user
  release_cluster
}

setup() {
  cd "$BATS_TEST_TMPDIR"
  full=$BATS_TEST_TMPDIR/full
  flor_pid='' server_pid=''
  before=$(state_of_things)
}

teardown() {
  end_replay
  [[ -z $server_pid ]] || kill "$server_pid"
  ! mountpoint -q "$full" || privileged umount "$full"
}

# Every file and link of the store, every replay, and every job that there ever was.
state_of_things() {
  store_files
  find "$FLOR_STORE" -mindepth 3 -maxdepth 3 -path '*/replays/*' -type d | sort
  scontrol -o show jobs | cut -d' ' -f1
}

store_files() {
  find "$FLOR_STORE" -type f ! -name '.*.lock' -exec md5sum {} + | sort
  find "$FLOR_STORE" -type l | sort
}

# refused CODE TEXT COMMAND…: one line that holds the text, the exit code, and nothing happened.
refused() {
  local code=$1 text=$2
  shift 2
  run "$@"
  [[ $status -eq $code && ${#lines[@]} -eq 1 && $output == 'flor: '*"$text"* ]] ||
    { echo "exit code $status, not $code: $output" >&2; return 1; }
  [[ $(state_of_things) == "$before" ]]
}

# replay_main PROGRAM [FLAG…]
replay_main() {
  local file
  file=$(program "$1")
  shift
  flor replay main --again --workers 4 "$@" -- "$file" "${small[@]}"
}

record_small() { flor record "$@" -- "$(program char_lm)" "${small[@]}"; }

# --- the command line

@test "an unknown run, for every command" {
  refused 2 "there is no run 'nowhere' in the store $FLOR_STORE" flor replay nowhere -- "$(program char_lm)"
  refused 2 "there is no run 'nowhere'" flor show nowhere
  refused 2 "there is no run 'nowhere'" flor log nowhere
  refused 2 "there is no run 'nowhere'" flor check nowhere
}

@test "a variable of the shell that is not set is no flag that is not given" {
  refused 2 "the value behind --older-than is empty" flor gc --yes --older-than "" --status completed
  refused 2 "the value behind --max-size is empty" flor gc --yes --max-size=
  refused 2 "the value behind --resume is empty" record_small --resume ""
}

@test "epsilon must be a number above 0" {
  for value in 0 -1 x nan inf; do
    refused 2 "a number above 0 such as 0.0667; '$value' is not" record_small "--epsilon=$value"
  done
}

@test "epsilon from the environment must be one, too" {
  FLOR_EPSILON=-1 refused 2 "'-1' is not (--epsilon, FLOR_EPSILON, or epsilon in flor.conf)" record_small
}

@test "how checkpoints are written and kept must be known" {
  refused 2 "fork-batch or auto; 'threads' is not (--materializer, FLOR_MATERIALIZER, or materializer in flor.conf)" record_small --materializer threads
  refused 2 "'2w' is not (--mtbf, FLOR_MTBF, or mtbf in flor.conf)" record_small --mtbf 2w
  refused 2 "'0' is not (--mtbf, FLOR_MTBF, or mtbf in flor.conf)" record_small --mtbf=0
  refused 2 "'tmp' is not (--local, FLOR_LOCAL, or local in flor.conf)" record_small --local tmp
  refused 2 "all, or a number from 1" record_small --keep 0
  FLOR_KEEP=some refused 2 "'some' is not (--keep, FLOR_KEEP, or keep in flor.conf)" record_small
}

@test "epochs outside of the record" {
  refused 2 "epochs 20:30 are outside of the record's 0:8" replay_main char_lm.complete.probed --epochs 20:30
  refused 2 "'5:5' is no range of epochs" replay_main char_lm.complete.probed --epochs 5:5
  refused 2 "'7:3' is no range of epochs" replay_main char_lm.complete.probed --epochs 7:3
  refused 2 "'x' is no range of epochs" replay_main char_lm.complete.probed --epochs x
}

@test "flags and commands that do not exist, and none at all" {
  refused 2 "--wurkers" replay_main char_lm.complete.probed --wurkers=4
  refused 2 "there is no command 'recrod'" flor recrod
  refused 2 "--workers takes auto or a number from 1 to 100000, not '0'" flor replay main --workers 0 -- "$(program char_lm)"
  refused 2 "the record has no block 'eval'; it has train" replay_main char_lm.complete.probed --probe eval
  refused 2 "name the program behind --" flor replay main
  refused 2 "the program behind --" flor record
  refused 2 "flor log takes no program behind --" flor log main -- true
}

@test "a program that is not there, or not executable" {
  touch file
  refused 2 "there is no program 'no-such-program' on PATH" flor record -- no-such-program
  refused 2 "there is no program 'no-such-program' on PATH" flor replay main -- no-such-program
  refused 2 "./file is not an executable file" flor record -- ./file
  refused 2 "./file is not an executable file" flor replay main -- ./file
}

@test "srun says itself that a program is not there, and nothing is recorded" {
  before=$(store_files)
  run ! srun --flor-record no-such-program
  [[ $output == *"no-such-program: No such file or directory"* && $(store_files) == "$before" ]]
}

@test "a program that never calls the library: its own exit code and one warning" {
  run -7 flor record -- sh -c 'echo mine; exit 7'
  [[ ${#lines[@]} -eq 2 && $output == *mine* ]]
  one_line "flor: warning: nothing was recorded: sh reached no loop of flor's"
}

@test "a name that is taken" {
  refused 2 "the name 'main' is taken by run $(basename "$(run_dir main)")" record_small --name main
  run -1 srun --flor-record --flor-name=main "$(program char_lm)" "${small[@]}"
  one_line "flor: --flor-name=main: already the name of run $(basename "$(run_dir main)")"
}

@test "two recordings that start at once with the same name: both train, one has it, the other says so" {
  local pids=() pid
  for _ in 1 2; do
    srun --flor-record --flor-name=twin "$(program char_lm)" "${small[@]}" >"twin.${#pids[@]}" 2>&1 3>&- &
    pids+=($!)
  done
  codes=0
  for pid in "${pids[@]}"; do wait "$pid" || codes=$((codes + 1)); done
  [[ $(cat twin.0 twin.1 | grep -c "twin.*\(taken\|already the name\)") -eq 1 ]]
  [[ $(flor runs --json | jq '[.[] | select(.name == "twin")] | length') -eq 1 ]]
  ((codes <= 1))
}

# --- the store

@test "a store whose parent is not there" {
  refused 2 "its parent directory $PWD/no does not exist" record_small --store "$PWD/no/store"
  [[ ! -e no ]]
}

@test "a store that is not writable" {
  needs_ordinary_user
  mkdir -m 755 closed
  chmod 755 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test"
  refused 2 "the store $PWD/closed cannot be written (Permission denied)" \
    ordinary env -C / "$build/bin/flor" record --store "$PWD/closed" -- "$(program char_lm)" "${small[@]}"
  [[ -z $(ls -A closed) ]]
}

# A disk of $1, mounted at $full.
mount_disk() {
  mkdir "$full"
  privileged mount -t tmpfs -o "size=$1,mode=777" flor-test "$full"
}

@test "a store that is full" {
  mount_disk 64k
  dd if=/dev/zero of="$full/filler" bs=64k count=2 2>/dev/null || true
  refused 2 "the store $full cannot be written (No space left on device)" record_small --store "$full"
  [[ $(ls -A "$full") == filler ]]
}

# --- Redis

@test "a Redis that is not reachable" {
  FLOR_REDIS=redis://127.0.0.1:1 refused 1 "Redis at redis://127.0.0.1:1 cannot be used: Connection refused" \
    replay_main char_lm.complete.probed
}

@test "an address that is none of Redis" {
  FLOR_REDIS=localhost refused 2 "the Redis URL does not begin with redis:// or unix://" \
    replay_main char_lm.complete.probed
}

@test "a Redis that may evict" {
  redis-server --port 0 --unixsocket "$PWD/redis.sock" --maxmemory 100mb --maxmemory-policy allkeys-lru --save '' \
    --logfile "$PWD/redis.log" --dir "$PWD" 3>&- &
  server_pid=$!
  until_true 10 redis-cli -s "$PWD/redis.sock" ping
  FLOR_REDIS=unix://$PWD/redis.sock refused 1 "may evict keys (maxmemory-policy allkeys-lru)" \
    replay_main char_lm.complete.probed
}

@test "the launcher slurm without Redis" {
  FLOR_REDIS='' refused 2 "--launcher slurm needs a Redis that all nodes reach" \
    replay_main char_lm.complete.probed --launcher slurm
}

# --- a run or a program that do not fit

@test "a program with another loop count than the record's" {
  run flor replay main --workers 4 -- "$(program char_lm.complete.probed)" --epochs 9 "${small[@]:2}"
  [[ $status -eq 1 ]]
  one_line "loop epoch runs over 0:9 here, and over 0:8 in the record; give the arguments of the recorded command"
  [[ $(flor log main --format jsonl | grep -c grad_norm) -eq 0 ]]
  until_true 20 no_jobs
}

@test "a program without the flor::checkpointing of the recorded one" {
  run flor replay main --workers 4 -- "$(program char_lm.probed)" "${small[@]}"
  [[ $status -eq 1 ]]
  one_line "the recorded program had flor::checkpointing in front of loop epoch, this one has not; put it back"
}

@test "a recording that was killed: what exists is offered, and replays" {
  args=(--epochs 3000 "${small[@]:2}")
  FLOR_EVERY=1 srun --flor-record --flor-name=killed "$(program char_lm)" "${args[@]}" >killed.out 2>&1 3>&- &
  step=$!
  until_true 60 grep -qs '^epoch=5 validation_loss' killed.out
  kill -KILL "$(jq .pid "$(run_dir killed)/run.json")"
  code=0
  wait "$step" || code=$?
  [[ $code -ne 0 ]]
  [[ $(flor runs --json | jq -r '.[] | select(.name == "killed") | .status') == killed ]]
  before=$(state_of_things)
  refused 2 "is incomplete: its recording stopped after epoch " \
    flor replay killed --workers 4 -- "$(program char_lm.probed)" "${args[@]}"
  offer=$(grep -oE -- '--epochs 0:[0-9]+' <<<"$output")
  [[ $output == *"of 3000; $offer replays what exists" ]]
  last=${offer##*:}
  ((last >= 6))
  refused 2 "epochs $((last + 1)):$((last + 5)) are outside of the record's 0:$last" \
    flor replay killed --epochs "$((last + 1)):$((last + 5))" -- "$(program char_lm.probed)" "${args[@]}"
  # shellcheck disable=SC2086
  run -0 flor replay killed --workers 4 $offer -- "$(program char_lm.probed)" "${args[@]}"
  [[ $(verdict "$(replay_dir killed)" '"\(.verdict) \(.units | length)"') == "identical $last" ]]
  # The same rows as the killed run printed itself.
  cut -d' ' -f1-3 killed.out | grep -E '^epoch=[0-4] validation_loss=' >printed
  flor log killed --names validation_loss --epochs 0:5 --format jsonl |
    sed -E 's/.*"value":([^,]*),"epoch":([0-9]+).*/epoch=\2 validation_loss=\1/' >logged
  cmp printed logged
  [[ $(flor log killed --names grad_norm --epochs 0:5 --format jsonl | wc -l) -eq 30 ]]
}

# --- a disk that fills up half-way

@test "recording onto a disk that fills up: training ends as it would have, with one warning, and the run says it" {
  plain=$("$(program char_lm)" "${small[@]}")
  mount_disk 960k
  export FLOR_STORE=$full
  run -0 --separate-stderr env FLOR_EVERY=1 srun --flor-record --flor-name=fills "$(program char_lm)" "${small[@]}"
  [[ $output == "$plain" ]]
  # shellcheck disable=SC2154
  [[ $(grep -c 'warning' <<<"$stderr") -eq 1 && $stderr == *"a checkpoint of run "*" is missing, training goes on: "*"are kept free for the program"* ]]
  [[ $(flor runs --json | jq -r '.[0].status') == completed ]]
  run -0 flor show fills
  [[ $output == *"status       completed"* && $output == *"are kept free for the program"* ]]
  head -c 30000 /dev/zero >"$full/the-programs-own"
  # Some checkpoints lie there whole, others are not there; none is torn.
  run flor check fills
  [[ $output != *torn* && $(find "$full"/*/checkpoints -name '*.safetensors' | wc -l) -ge 1 ]]
  [[ -z $(find "$full"/*/checkpoints -name '*.tmp*') ]]
}

@test "a store that fills up during a replay: it fails at once, and with room again the same command goes on" {
  mount_disk 8m
  export FLOR_STORE=$full
  record fills char_lm.complete
  hold 3
  start_replay fills char_lm.complete.held
  held 3
  dd if=/dev/zero of="$full/filler" bs=4k 2>/dev/null || true
  let_go 3
  until_true 60 gone "$flor_pid"
  code=0
  wait "$flor_pid" || code=$?
  [[ $code -eq 1 && ! -e $replay/verdict.json ]]
  until_true 30 no_jobs
  rm "$full/filler"
  start_replay fills char_lm.complete.held
  finish_replay
}
