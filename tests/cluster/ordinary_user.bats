# What the demo does, as an ordinary user: nothing of it needs root.

load helpers
load training

setup_file() { use_cluster; }

teardown_file() {
  local uid
  uid=$(id -u "$ordinary_user")
  remove_ordinary_user
  # Where the user's agents listened.
  privileged rm -rf "/tmp/flor-${uid:?}"
  release_cluster
}

setup() {
  flor_pid=''
  needs_ordinary_user
}

# As the user, in the user's home directory, with the default store.
home() { ordinary env -C "$ordinary_home" "$@"; }

@test "an ordinary user records, replays over four workers and reads the log" {
  home true
  run -0 home srun --flor-record --flor-name=mine env FLOR_EVERY=1 "$(program char_lm)" "${small[@]}"
  [[ $output == *"flor: recorded run "*", 8 checkpoints, "* ]]
  run -0 home flor runs
  [[ $output == *" mine  completed "* ]]
  run -0 home flor replay mine --workers 4 -- "$(program char_lm.probed)" "${small[@]}"
  [[ $output == *"slurm: job "*", 4 tasks"* && $output == *": identical"* ]]
  run -0 home flor log mine --names loss,grad_norm --format jsonl
  [[ $(grep -c '"name":"grad_norm"' <<<"$output") -eq 48 ]]
  home flor log mine --format jsonl >"$BATS_TEST_TMPDIR/joined.jsonl"
  run -0 home flor replay mine --workers 4 -- "$(program char_lm.outer)" "${small[@]}"
  [[ $output == *": identical"* && $output == *"blocks: 0 executed, 8 skipped"* ]]
  run -0 home flor check mine
  [[ $output == *"nothing is damaged" ]]
  # All of it is the user's, and private where it should be.
  [[ -z $(find "$ordinary_home/.flor" ! -user "$ordinary_user") ]]
  uid=$(id -u "$ordinary_user")
  [[ $(stat -c '%a %U' "/tmp/flor-$uid") == "700 $ordinary_user" ]]
  [[ $(stat -c '%a %U' "/tmp/flor-$uid"/agent-*.sock | sort -u) == "600 $ordinary_user" ]]
}

@test "an ordinary user's sbatch: record, and replay by an array" {
  run -0 home sbatch -W --parsable -o out --flor-record --flor-name=job --wrap \
    "FLOR_EVERY=1 srun $(program char_lm) ${small[*]}"
  run -0 home sbatch -W --parsable -o out-%a --array=0-3 --flor-replay=job --wrap "srun $(program char_lm.probed) ${small[*]}"
  [[ $(jq -r .verdict "$ordinary_home/.flor/.names/$(id -u "$ordinary_user")/job/replays/job-flor-$output/verdict.json") == identical ]]
}

@test "another user's run can be listed, and not be replayed or changed" {
  run -0 flor runs --store "$ordinary_home/.flor"
  [[ $output == *" mine "* ]]
  theirs=$(basename "$(find "$ordinary_home/.flor" -maxdepth 1 -name '2*' | head -n 1)")
  for words in "replay $theirs -- true" "prepare $theirs --replay r1 -- true" "collect $theirs/r1"; do
    FLOR_STORE="$ordinary_home/.flor" run -2 bash -c "flor $words"
    [[ $output == *"is another user's"* ]]
  done
}
