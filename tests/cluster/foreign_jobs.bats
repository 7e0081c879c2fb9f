# Other jobs of the user's own, beside a replay's workers on a real cluster.

load helpers
load small

setup_file() {
  export FLOR_CLUSTER_DIR=/tmp/flor-cluster-foreign-$$ FLOR_CLUSTER_NODES=f
  small_store
  small_record main
}

teardown_file() { "$cluster" down; }

setup() { cd "$BATS_TEST_TMPDIR"; }

jobs_written() { compgen -G "$FLOR_STORE/*/replays/*/workers/jobs" >/dev/null; }

# A `flor replay` is killed while its workers wait; the number of one of them becomes another job's, as where the file
# was written on another cluster.
@test "a job of the user's with the number of a worker's lives on" {
  foreign=$(submit -o /dev/null --wrap 'sleep 300')
  until_true 20 job_is "$foreign" RUNNING
  flor replay main --probe all --launcher slurm --workers 1 --sbatch-option=--hold -- \
    "$small_program" train --guard --inner >killed 2>&1 3>&- &
  until_true 20 jobs_written
  kill -KILL $!
  jobs=$(compgen -G "$FLOR_STORE/*/replays/*/workers/jobs")
  worker=$(<"$jobs")
  # The worker's script is known by its path, also where the file does not name it.
  echo "$foreign" >"$jobs"
  flor replay main --probe all --launcher slurm --workers 1 -- "$small_program" train --guard --inner >resumed 2>&1 3>&- &
  resumed=$!
  until_true 20 job_is "$worker" PENDING
  scontrol release "$worker"
  wait "$resumed"
  job_is "$foreign" RUNNING
  job_is "$worker" COMPLETED
  scancel "$foreign"
}

@test "an interrupted replay cancels its workers and no other job" {
  foreign=$(submit -o /dev/null --wrap 'sleep 300')
  until_true 20 job_is "$foreign" RUNNING
  flor replay main --again --probe all --launcher slurm --workers 2 --sbatch-option=--hold -- \
    "$small_program" train --guard --inner >stopped 2>&1 3>&- &
  replay=$!
  until_true 20 grep -q 'job [0-9]' stopped
  worker=$(sed -n 's/.*: job \([0-9]*\),.*/\1/p' stopped)
  job_is "$worker" PENDING
  # Its file may say what it likes.
  for jobs in "$FLOR_STORE"/*/replays/*/workers/jobs; do echo "$foreign" >>"$jobs"; done
  kill -TERM "$replay"
  wait "$replay" || true
  until_true 20 job_is "$worker" CANCELLED
  job_is "$foreign" RUNNING
  scancel "$foreign"
}
