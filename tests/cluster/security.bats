# Several users on one cluster, also such as mean no good: what each can reach of the others' replays, and what of a
# login can be seen.

load helpers
load training
load redis_users

setup_file() {
  use_cluster_and_store
  record main char_lm.complete
  start_redis_with_users
  # Each user's flor.conf names it.
  unset FLOR_REDIS
}

teardown_file() {
  stop_redis_with_users
  release_cluster
}

setup() {
  cd "$BATS_TEST_TMPDIR"
  flor_pid=
}

teardown() { end_replay; }

as_alice() { XDG_CONFIG_HOME=$alice_home "$@"; }

keys_of_alice() { as "$admin" --scan --pattern 'flor:alice:*'; }

# find_done_key REPLAY: sets `done_key` to the key of its commits. Redis holds it from the first commit on, which
# may come behind the moment at which a unit is held.
find_done_key() { until_true 60 done_key_of "$1"; }

done_key_of() { done_key=$(keys_of_alice | grep "$1.*:done$"); }

@test "a user of Redis reaches their own keys only, and a replay needs no more" {
  hold 3
  as_alice start_replay main char_lm.complete.held 2
  held 3
  [[ -z $(as "$admin" --scan --pattern 'flor:{*') ]]
  find_done_key "$(basename "$replay")"
  for command in "hgetall $done_key" "hset $done_key 5 {}" "del $done_key" "set flor:elsewhere 1" "keys x" "flushall" \
    "config get save" "acl list" "script flush" "monitor" "script load return" "function flush"; do
    # shellcheck disable=SC2086  # words
    run as "$(url_of bob)" $command
    [[ $output == *NOPERM* ]] || { echo "bob may $command: $output" >&2; return 1; }
  done
  run as "$(url_of bob)" eval "return redis.call('HSET', KEYS[1], '5', '{}')" 1 "$done_key"
  [[ $output == *NOPERM* ]]
  let_go 3
  finish_replay
}

@test "a forged commit adds no row and takes none away" {
  hold 2
  as_alice start_replay main char_lm.complete.held 2
  held 2
  find_done_key "$(basename "$replay")"
  for unit in 2 5 6 7; do
    as "$(url_of alice)" hset "$done_key" "$unit" '{"worker":"forger","digest":"00000000000000000000000000000000","bytes":1}'
  done
  let_go 2
  finish_replay
  [[ $(grep -c grad_norm "$replay/log.jsonl") -eq 48 ]]
}

@test "a wrong password, and one user's name with another's" {
  secret=$(secret_of alice)
  mkdir -p other/flor
  for url in "redis://alice:wrong@127.0.0.1:$redis_port" "redis://bob:$secret@127.0.0.1:$redis_port" "redis://127.0.0.1:$redis_port"; do
    (umask 077 && echo "redis = $url" >other/flor/flor.conf)
    XDG_CONFIG_HOME=$PWD/other run flor replay main --again --workers 2 -- "$(program char_lm.complete.probed)" "${small[@]}"
    [[ $status -ne 0 ]]
    one_line "Redis at redis://"
    [[ $output != *wrong* && $output != *"$secret"* ]]
  done
}

@test "flor admin redis-acl says what it cannot do" {
  FLOR_REDIS=$admin run flor admin redis-acl 'a b'
  [[ $status -eq 2 && $output == *"can be no user of Redis"* ]]
  FLOR_REDIS=$(url_of bob) run flor admin redis-acl bob
  [[ $status -ne 0 ]]
  as "$(url_of bob)" ping
  FLOR_REDIS=$(url_of bob) run flor admin redis-acl carol
  [[ $status -eq 1 && $output == *NOPERM* ]]
  as "$admin" acl setuser default nopass
  FLOR_REDIS=$admin run flor admin redis-acl carol
  as "$admin" acl setuser default resetpass '>keeper'
  [[ $status -eq 1 && $output == *"lets anyone in as user default"*"ACL SETUSER default resetpass"* ]]
  [[ -z $(as "$admin" acl getuser carol) ]]
  FLOR_REDIS=unix:///tmp/none run flor admin redis-acl carol
  [[ $status -eq 2 && $output == *"cannot be told apart"* ]]
}

@test "an id leads out of the store for nobody, and another user's run is not gone on with" {
  for id in ../main .. main/../.. /etc a/b/c; do
    run flor show "$id"
    [[ $status -eq 2 ]]
    run flor replay "$id" -- true
    [[ $status -eq 2 ]]
    run flor record --resume "$id" -- true
    [[ $status -eq 2 ]]
  done
  needs_ordinary_user
  chmod -R go+rX "$BATS_FILE_TMPDIR"
  run ordinary env -C / flor record --store "$FLOR_STORE" --resume "$(basename "$(run_dir main)")" -- true
  [[ $status -ne 0 ]]
  # What agents of users are open to is tested in tests/agent (agent_process_test.cpp).
}
