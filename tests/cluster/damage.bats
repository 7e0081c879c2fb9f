# Checkpoints that a disk damaged: named by `flor check`, never loaded, and replay still ends with the right log. On a
# real cluster.

load helpers
load training

setup_file() {
  use_cluster_and_store
  record complete char_lm.complete
  record partial char_lm
  for name in complete partial; do
    mkdir "$name"
    cd "$name"
    replays "$name" "$(held_of "$name")"
    cp "$replay/log.jsonl" ../"$name.reference"
    cd ..
  done
}

teardown_file() { release_cluster; }

# Each test damages a copy of the store.
setup() {
  cd "$BATS_TEST_TMPDIR"
  unset FLOR_TEST_HOLD
  flor_pid=''
  cp -a "$FLOR_STORE" store
  export FLOR_STORE=$BATS_TEST_TMPDIR/store
}

teardown() { end_replay; }

held_of() { if [[ $1 == complete ]]; then echo char_lm.complete.held; else echo char_lm.held; fi; }

# replays NAME PROGRAM: to an end that is identical.
replays() {
  start_replay "$1" "$2"
  finish_replay
}

replays_as_undamaged() {
  replays "$1" "$(held_of "$1")"
  cmp "$replay/log.jsonl" "$BATS_FILE_TMPDIR/$1.reference"
}

checkpoints() { (cd "$(run_dir "$1")" && find checkpoints -name '*.safetensors' | sort); }

# flip FILE POSITION
flip() {
  local byte
  byte=$(od -An -tu1 -j "$2" -N 1 "$1")
  printf '%b' "\\x$(printf %02x $((byte ^ 4)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# named NAME FILE: flor check says that this file is damaged, and no other.
named() {
  run -1 flor check "$1" --json
  [[ $(jq -r '[.damages[].file] | unique | join(" ")' <<<"$output") == "$2" ]] || { echo "$2: $output" >&2; return 1; }
}

# never_loaded FILE AT: a worker came across the damage of the file and said so, nobody restored what it holds, and the
# user is told.
never_loaded() {
  jq -r 'select(.kind == "restore") | .at' "$replay/timeline.jsonl" >restored
  if ! grep -F "$1" "$replay"/workers/*.out | grep -q 'it is not used' || grep -qxF "$2" restored ||
    [[ $(verdict "$replay" '.reasons | join("\n")') != *"$1"* ]]; then
    cat restored replay.out >&2
    return 1
  fi
}

# enters_unit_4: a worker that has to restore for it, and gives its rows.
enters_unit_4() {
  start_replay complete char_lm.complete.held 1 --epochs 4:5
  finish_replay
  jq -c 'select(.epoch == 4)' "$BATS_FILE_TMPDIR/complete.reference" >expected
  jq -c 'select(.epoch == 4)' "$replay/log.jsonl" | cmp - expected
}

@test "nothing is damaged: flor check says so" {
  for name in complete partial; do
    run -0 flor check "$name"
    [[ $output == *"nothing is damaged" ]]
  done
  [[ $(checkpoints complete | wc -l) -eq 17 && $(checkpoints partial | wc -l) -eq 8 ]]
}

@test "in any checkpoint: one flipped byte, anywhere, is named" {
  for name in complete partial; do
    for file in $(checkpoints "$name"); do
      path=$(run_dir "$name")/$file
      cp "$path" whole
      size=$(stat -c %s "$path")
      for position in 0 3 20 300 $((size / 2)) $((size - 1)); do
        flip "$path" "$position"
        named "$name" "$file"
        cp whole "$path"
      done
    done
  done
}

@test "in any checkpoint: a truncated file is named" {
  for name in complete partial; do
    for file in $(checkpoints "$name"); do
      path=$(run_dir "$name")/$file
      cp "$path" whole
      for size in 0 7 100 $(($(stat -c %s whole) - 1)); do
        truncate -s "$size" "$path"
        named "$name" "$file"
        cp whole "$path"
      done
    done
  done
}

@test "in any checkpoint: a missing file is named" {
  for name in complete partial; do
    for file in $(checkpoints "$name"); do
      path=$(run_dir "$name")/$file
      mv "$path" whole
      named "$name" "$file"
      mv whole "$path"
    done
  done
}

@test "complete checkpoints, one flipped byte: the unit is entered from the one before" {
  file=checkpoints/@iteration/epoch=3.safetensors
  flip "$(run_dir complete)/$file" 300
  enters_unit_4
  never_loaded "$file" epoch=3/@iteration
  grep -qxF epoch=2/@iteration restored
}

@test "complete checkpoints, one flipped byte in the file that holds the tensors of another" {
  file=checkpoints/train/epoch=3.safetensors
  grep -aqF "$file" "$(run_dir complete)/checkpoints/@iteration/epoch=3.safetensors"
  flip "$(run_dir complete)/$file" 40000
  enters_unit_4
  never_loaded "$file" epoch=3/@iteration
}

@test "complete checkpoints, the one at the loop's entry cut off" {
  file=checkpoints/@iteration/epoch=entry.safetensors
  truncate -s 4000 "$(run_dir complete)/$file"
  replays_as_undamaged complete
  never_loaded "$file" epoch=entry/@iteration
}

@test "complete checkpoints, every iteration's missing: everything is computed again" {
  find "$(run_dir complete)/checkpoints/@iteration" -type f -delete
  replays_as_undamaged complete
  [[ $(verdict "$replay" '[.units[].executed] | add') -eq 8 ]]
}

@test "partial checkpoints, one of each damage: the blocks in front of a unit are computed again" {
  flip "$(run_dir partial)/checkpoints/train/epoch=0.safetensors" 40000
  truncate -s 4000 "$(run_dir partial)/checkpoints/train/epoch=2.safetensors"
  rm "$(run_dir partial)/checkpoints/train/epoch=4.safetensors"
  replays partial char_lm.probed
  equals_sequential partial char_lm.probed loss,validation_loss,grad_norm,weight_norm
  # A worker that got all units, because it was there long before the others, restored nothing at all.
  [[ ! -e $replay/timeline.jsonl ]] ||
    never_loaded checkpoints/train/epoch=0.safetensors epoch=0/train#0
}

@test "an outer probe on damaged checkpoints: those blocks execute, and only those" {
  flip "$(run_dir partial)/checkpoints/train/epoch=2.safetensors" 40000
  rm "$(run_dir partial)/checkpoints/train/epoch=5.safetensors"
  replays partial char_lm.outer
  [[ $(verdict "$replay" '[.units[] | select(.executed > 0) | .id] | join(" ")') == "2 5" ]]
  never_loaded checkpoints/train/epoch=2.safetensors epoch=2/train#0
  equals_sequential partial char_lm.outer loss,validation_loss,weight_norm
}
