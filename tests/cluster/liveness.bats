# Is a run recorded now? As a node sees it that sees neither the recorder nor its lock.

load helpers
load small

setup_file() {
  export FLOR_CLUSTER_DIR=/tmp/flor-cluster-live-$$ FLOR_CLUSTER_NODES=v
  small_store
}

teardown_file() { "$cluster" down; }

setup() { cd "$BATS_TEST_TMPDIR"; }

status_is() { [[ $(flor runs --json | jq -r '.[].status') == "$1" ]]; }

@test "Slurm tells that a silent recording is over" {
  job=$(submit --output out --wrap "srun --ntasks=1 --flor-record --flor-store=$FLOR_STORE $small_program train --guard \
    --hold=3 --in=recording --until=$PWD/until")
  until_true 60 test -s until.reached
  pid=$(cat until.reached)
  status_is recording
  kill -STOP "$pid"
  owner=$(echo "$FLOR_STORE"/*/owner.0.json)
  [[ $(jq -r .slurm.job "$owner") == "$job" ]]
  jq -c '.boot = "another" | .host = "another" | .shared_locks = false' "$owner" >elsewhere
  cat elsewhere >"$owner" # in place: the recorder has it open
  touch -d '1 hour ago' "$owner"
  rm "$FLOR_STORE"/*/run.lock
  status_is unknown
  scancel --signal=KILL --full "$job"
  until_true 60 job_is "$job" FAILED || job_is "$job" CANCELLED
  status_is killed
}
