# Several users on one cluster, also such as mean no good: what each can reach of the others' replays, and what of a
# login can be seen.

load helpers
load training

setup_file() {
  use_cluster_and_store
  record main char_lm.complete
  start_redis_with_users
}

teardown_file() {
  kill "$redis_pid"
  release_cluster
}

setup() {
  cd "$BATS_TEST_TMPDIR"
  flor_pid=
}

teardown() { end_replay; }

# A Redis of this file's own, where the login `default` has a password: $admin is its URL.
start_redis_with_users() {
  export redis_port=17979
  export admin=redis://default:keeper@127.0.0.1:$redis_port
  echo 'user default on >keeper ~* &* +@all' >users.acl
  redis-server --port "$redis_port" --bind 127.0.0.1 --appendonly yes --save '' --dir "$PWD" --aclfile "$PWD/users.acl" \
    >redis.out 2>&1 3>&- &
  export redis_pid=$!
  until_true 20 redis_answers
  login alice
  login bob
}

redis_answers() { [[ $(as "$admin" ping) == PONG ]]; }

# login USER: lets the user in; $alice, $bob are their URLs.
login() {
  local line
  line=$(FLOR_REDIS=$admin flor admin redis-acl "$1" | sed -n 's/^redis = //p')
  [[ $line == redis://"$1":*@127.0.0.1:$redis_port ]]
  export "$1=$line"
}

as() { redis-cli -u "$1" --no-auth-warning "${@:2}"; }

keys_of_alice() { as "$admin" --scan --pattern 'flor:alice:*'; }

@test "a user of Redis reaches their own keys only, and a replay needs no more" {
  hold 3
  FLOR_REDIS=$alice start_replay main char_lm.complete.held 2
  held 3
  [[ -z $(as "$admin" --scan --pattern 'flor:{*') ]]
  done_key=$(keys_of_alice | grep ':done$')
  for command in "hgetall $done_key" "hset $done_key 5 {}" "del $done_key" "set flor:elsewhere 1" "keys x" "flushall" \
    "config get save" "acl list" "script flush" "monitor"; do
    # shellcheck disable=SC2086  # words
    run as "$bob" $command
    [[ $output == *NOPERM* ]] || { echo "bob may $command: $output" >&2; return 1; }
  done
  run as "$bob" eval "return redis.call('HSET', KEYS[1], '5', '{}')" 1 "$done_key"
  [[ $output == *[Pp]ermission* || $output == *NOPERM* ]]
  let_go 3
  finish_replay
}

@test "a forged commit adds no row and takes none away" {
  hold 2
  FLOR_REDIS=$alice start_replay main char_lm.complete.held 2
  held 2
  done_key=$(keys_of_alice | grep "$(basename "$replay").*:done$")
  for unit in 2 5 6 7; do
    as "$alice" hset "$done_key" "$unit" '{"worker":"forger","digest":"00000000000000000000000000000000","bytes":1}'
  done
  let_go 2
  finish_replay
  [[ $(grep -c grad_norm "$replay/log.jsonl") -eq 48 ]]
}

@test "a password is seen in no process, file, job or message" {
  hold 3
  FLOR_REDIS=$alice start_replay main char_lm.complete.held 2
  held 3
  secret=${alice#redis://alice:}
  secret=${secret%@*}
  [[ ${#secret} -eq 64 ]]
  # shellcheck disable=SC2009  # the words of every process
  run bash -c "ps axww -o args | grep -v grep | grep -c $secret"
  [[ $output == 0 ]]
  run bash -c "scontrol show job -dd | grep -c $secret; grep -rc $secret '$FLOR_STORE' replay.out | grep -v ':0$'"
  [[ $output == 0 ]]
  let_go 3
  finish_replay
  ! grep -rq "$secret" "$FLOR_STORE" replay.out
}

@test "a wrong password, and one user's name with another's" {
  for url in "redis://alice:wrong@127.0.0.1:$redis_port" "redis://bob:${alice#redis://alice:}" "redis://127.0.0.1:$redis_port"; do
    FLOR_REDIS=$url run flor replay main --again --workers 2 -- "$(program char_lm.complete.probed)" "${small[@]}"
    [[ $status -ne 0 ]]
    one_line "Redis at redis://"
    [[ $output != *wrong* && $output != *"${alice#redis://alice:}"* ]]
  done
}

@test "flor admin redis-acl says what it cannot do" {
  FLOR_REDIS=$admin run flor admin redis-acl 'a b'
  [[ $status -eq 2 && $output == *"can be no user of Redis"* ]]
  FLOR_REDIS=$bob run flor admin redis-acl carol
  [[ $status -eq 1 && $output == *NOPERM* ]]
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
