# What the tests share that record and replay a real program. A test file says `load helpers` and `load training`.
#
# The programs are examples/char_lm.cpp and edited copies of it, built by tests/exactness and tests/cluster:
#   char_lm                       as it is: partial checkpoints
#   char_lm.complete              with flor::checkpointing
#   char_lm[.complete].probed     with an inner and an outer probe
#   char_lm[.complete].outer      with the outer probe alone
#   char_lm[.complete].held       .probed, and hold.patch: it waits in epoch N while $FLOR_TEST_HOLD/hold.N is there
# shellcheck shell=bash disable=SC2154,SC2034

# Eight epochs of six steps; others by (--epochs N "${small[@]:2}").
small=(--epochs 8 --steps 6 --hidden 24 --batch 4 --length 24 --log-every 2)

# program NAME: its path.
program() {
  local file
  for file in "$build/bin/$1" "${FLOR_TEST_PROGRAMS:-$build/tests}"/{exactness,cluster}/"$1"; do
    [[ ! -x $file ]] || { echo "$file"; return; }
  done
  echo "$1 is not built" >&2
  return 1
}

# use_cluster_and_store: for setup_file; the store and what it records lie in the file's own folder.
use_cluster_and_store() {
  use_cluster
  export FLOR_STORE=$BATS_FILE_TMPDIR/store
  cd "$BATS_FILE_TMPDIR"
}

# record NAME PROGRAM [ARGUMENT…]: under srun, a checkpoint after every execution.
record() {
  local name=$1 file
  file=$(program "$2")
  shift 2
  FLOR_EVERY=1 srun --flor-record --flor-store="$FLOR_STORE" --flor-name="$name" "$file" "${small[@]}" "$@" \
    >"$name.out" 2>"$name.err"
}

# run_dir NAME: where the run of that name lies.
run_dir() { realpath "$FLOR_STORE/.names/$UID/$1"; }

# replay_dir NAME: the newest replay of the run.
replay_dir() {
  local newest
  newest=$(find "$(run_dir "$1")/replays" -mindepth 1 -maxdepth 1 -type d -printf '%T+ %p\n' | sort | tail -n 1)
  echo "${newest#* }"
}

# verdict DIRECTORY FILTER: of a replay, through jq.
verdict() { jq -r "$2" "$1/verdict.json"; }

# --- rows

# equals_sequential NAME PROBED NAMES: the joined log holds what one plain run of the probed program prints, value for
# value, and the record log what it prints of the recorded names (loss, validation_loss).
equals_sequential() {
  joined_equals_sequential "$1" "$2" "$3"
  same_rows "the record log" sequential.out "$(run_dir "$1")/log.jsonl" loss,validation_loss
}

joined_equals_sequential() {
  "$(program "$2")" "${small[@]}" >sequential.out
  flor log "$1" --format jsonl >joined.jsonl
  same_rows "the joined log" sequential.out joined.jsonl "$3"
}

# same_rows WHAT PRINTED LOG NAMES
same_rows() {
  python3 - "$root/tests/exactness" "$@" <<'PYTHON'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from exactness import compare, logged_rows, printed_rows
what, names = sys.argv[2], sys.argv[5].split(",")
printed, logged = (open(name).read() for name in sys.argv[3:5])
compare(what, printed_rows(printed, names), logged_rows(logged, names))
PYTHON
}

# --- the queue, as Redis has it

redis() { redis-cli -u "$FLOR_REDIS" "$@"; }

# in_queue COMMAND KEY ARGUMENT…: of the replay in $replay.
in_queue() {
  local command=$1 key=$2
  shift 2
  redis "$command" "flor:{$(basename "$(dirname "$(dirname "$replay")")")/$(basename "$replay")}:$key" "$@"
}

# done_by UNIT: the worker whose commit counted; empty if none.
done_by() {
  local row
  row=$(in_queue hget "done" "$1")
  [[ -z $row ]] || jq -r .worker <<<"$row"
}

# events FILTER: the events of the queue as "kind segment unit worker …" lines that match the expression.
events() {
  in_queue xrange events - + |
    awk '/^[0-9]+-[0-9]+$/ { if (line != "") print line; line = ""; key = 1; next }
         { if (key) name = $0; else line = line name "=" $0 " "; key = !key } END { if (line != "") print line }' |
    grep -E "$1"
}

has_event() { events "$1" >/dev/null; }

# worker_of PID: its name in the queue.
worker_of() {
  local worker
  for worker in $(in_queue zrange workers 0 -1); do
    [[ $(in_queue hget "worker:$worker" pid) != "$1" ]] || { echo "$worker"; return; }
  done
  return 1
}

# inside UNIT PID: the process lives, holds a lease on a segment with the unit, and nobody committed the unit.
inside() {
  local worker segment state
  kill -0 "$2"
  worker=$(worker_of "$2")
  segment=$(in_queue hget "worker:$worker" segment)
  state=$(in_queue hmget "seg:$segment" state owner cur | paste -sd' ')
  [[ $state == "running $worker $1" && -n $(in_queue zscore lease "$segment") ]] ||
    { echo "segment $segment: $state" >&2; return 1; }
  [[ $(in_queue hexists "done" "$1") == 0 && ! -e $(unit_file "$1") ]]
}

unit_file() { printf '%s/units/%06d.jsonl' "$replay" "$1"; }

# --- holding a worker inside a unit

# hold UNIT…: whoever executes the unit waits there. (One unit is one epoch.)
hold() {
  local unit
  export FLOR_TEST_HOLD=$BATS_TEST_TMPDIR
  for unit in "$@"; do touch "$FLOR_TEST_HOLD/hold.$unit"; done
}

let_go() {
  local unit
  for unit in "$@"; do rm -f "$FLOR_TEST_HOLD/hold.$unit"; done
}

# held UNIT: waits until somebody does; sets held_pid and held_task.
held() {
  until_true 60 test -e "$FLOR_TEST_HOLD/held.$1" || { cat replay.out >&2; return 1; }
  read -r held_pid held_task <"$FLOR_TEST_HOLD/held.$1"
}

# --- flor replay in the background, its output in replay.out

# start_replay NAME PROGRAM [WORKERS [FLAG…]]: sets flor_pid, and replay to its directory. Whoever is held in a unit stays
# alone there, unless $copies is set.
start_replay() {
  local file
  file=$(program "$2")
  rm -f replay.out  # an earlier one's
  flor replay "$1" --again ${copies---no-copies} --workers "${3:-4}" "${@:4}" -- "$file" "${small[@]}" >replay.out 2>&1 3>&- &
  flor_pid=$!
  until_true 30 begun_or_gone
  said '^replay .* of run ' || { cat replay.out >&2; return 1; }
  replay=$(run_dir "$1")/replays/$(sed -n 's/^replay \([^ ]*\) of run .*/\1/p' replay.out | tail -n 1)
}

begun_or_gone() { said '^replay .* of run ' || gone "$flor_pid"; }

said() { [[ -e replay.out ]] && grep -qE "$1" replay.out; }

gone() { [[ $(ps -o stat= -p "$1") != [!Z]* ]]; }

# finish_replay: waits for its end; it found the run's values again.
finish_replay() {
  local code=0
  until_true 90 gone "$flor_pid" || { cat replay.out >&2; return 1; }
  wait "$flor_pid" || code=$?
  [[ $code -eq 0 && $(verdict "$replay" .verdict) == identical ]] || { cat replay.out >&2; return 1; }
}

no_jobs() { [[ -z $(squeue -h -n flor-replay) ]]; }

# Nothing of a failed test stays behind.
end_replay() {
  [[ -z ${FLOR_TEST_HOLD:-} ]] || rm -f "$FLOR_TEST_HOLD"/hold.*
  scancel -u "$(id -un)" -n flor-replay
  [[ -z ${flor_pid:-} ]] || gone "$flor_pid" || kill -KILL "$flor_pid"
}
