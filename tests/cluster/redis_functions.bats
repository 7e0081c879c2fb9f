# The functions that users of a Redis run, after an upgrade of Flor. Without a cluster.

load helpers
load redis_users

setup() {
  cd "$BATS_TEST_TMPDIR"
  export PATH=$build/bin:$PATH HOME=$PWD
  start_redis_with_users
  as "$admin" -x function load >/dev/null <<<"#!lua name=$older
redis.register_function('${older}_status', function() return {'absent'} end)"
}

older=flor_0123456789ab

teardown() { stop_redis_with_users; }

libraries() { as "$admin" function list | grep -A 1 '^library_name' | grep '^flor_' | sort; }

@test "what another version loaded stays with a warning, and goes with --prune" {
  export FLOR_REDIS=$admin
  own=$(libraries | grep -v "$older")
  for command in "redis-functions" "redis-acl carol"; do
    # shellcheck disable=SC2086  # words
    run --separate-stderr flor admin $command
    [[ $status -eq 0 && $(wc -l <<<"$stderr") -eq 1 ]]
    [[ $stderr == "flor: warning: Redis also holds the functions of other versions"*"$older"*"flor admin redis-functions --prune" ]]
    [[ $(libraries) == *"$older"* ]]
  done

  run --separate-stderr flor admin redis-functions --prune
  [[ $status -eq 0 && $output == "removed $older" && -z $stderr ]]
  [[ $(libraries) == "$own" ]]
  run flor admin redis-functions
  [[ $status -eq 0 && -z $output ]]
}

@test "the functions are the administrator's alone" {
  FLOR_REDIS=$(sed -n 's/^redis = //p' bob/flor/flor.conf) run flor admin redis-functions --prune
  [[ $status -eq 1 && $output == *NOPERM* && $(wc -l <<<"$output") -eq 1 ]]
  [[ $(libraries) == *"$older"* ]]
}
