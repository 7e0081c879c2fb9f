# A Redis with a user of its own for each user of the cluster. A test file says `load helpers` and `load redis_users`.
# shellcheck shell=bash disable=SC2154,SC2034

# A Redis of the file's own, where the login `default` has a password: $admin is its URL.
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

# Returns when it is gone: the next test's server has the same port.
stop_redis_with_users() {
  kill "$redis_pid"
  until_true 20 redis_is_gone
}

redis_is_gone() { ! kill -0 "$redis_pid" 2>/dev/null || [[ $(ps -o state= -p "$redis_pid") == Z* ]]; }

redis_answers() { [[ $(as "$admin" ping) == PONG ]]; }

# login USER: lets the user in; $alice_home, $bob_home hold the flor.conf with their URLs. No variable does.
login() {
  local line folder=$PWD/$1/flor
  line=$(FLOR_REDIS=$admin flor admin redis-acl "$1" | grep '^redis = ')
  [[ $line == "redis = redis://$1":*@127.0.0.1:$redis_port ]]
  mkdir -p "$folder"
  (umask 077 && echo "$line" >"$folder/flor.conf")
  export "$1_home=$PWD/$1"
}

# url_of USER
url_of() { sed -n 's/^redis = //p' "$BATS_FILE_TMPDIR/$1/flor/flor.conf"; }

# as URL COMMAND…
as() { redis-cli -u "$1" --no-auth-warning "${@:2}"; }

# secret_of USER: the password.
secret_of() {
  local url
  url=$(url_of "$1")
  url=${url#redis://"$1":}
  echo "${url%@*}"
}
