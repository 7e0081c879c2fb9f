# Jobs that are submitted from inside a job with Flor's flags, on a real cluster: sbatch and salloc export their whole
# environment, and the flags in it are those of the job around them.

load helpers

setup_file() {
  export FLOR_CLUSTER_DIR=/tmp/flor-cluster-submitted-$$ FLOR_CLUSTER_NODES=s
  use_cluster
}

teardown_file() { "$cluster" down; }

setup() {
  cd "$BATS_TEST_TMPDIR"
  store=$BATS_TEST_TMPDIR/store
  mkdir "$store"
  printf '%s\n' '#!/bin/bash' 'env >batch.env' 'srun /usr/bin/env >step.env' >b.sh
}

# What another run has as its name, so that the name is taken.
taken() {
  mkdir -p "$store/other" "$store/.names/$UID"
  echo '{}' >"$store/other/run.json"
  ln -s ../../other "$store/.names/$UID/$1"
}

# around FLAG… -- COMMAND: a job with the flags runs the command, which waits for a job of its own. Not by sbatch -W, which looks
# after 2, 10 and 42 seconds.
around() {
  local flags=() job
  while [[ $1 != -- ]]; do flags+=("$1"); shift; done
  job=$(submit -o around.out "${flags[@]}" --wrap "$2")
  until_true 120 job_is "$job" COMPLETED || { cat around.out b.out >&2; return 1; }
}

# again JOB: was requeued, and begins once more.
again() {
  for _ in 1 2 3 4 5 6; do
    start_again "$1"
    until_true 15 job_is "$1" COMPLETED && return
  done
  return 1
}

# plain FILE…: nothing of Flor's was set there.
plain() {
  local file
  for file in "$@"; do
    [[ -s $file ]]
    ! grep -E '^(FLOR_(RECORD|LAUNCH|NAME|EPSILON|RESUME|REPLAY|STORE|ARGS|RANK|WORLD|CLUSTER)|SLURM_SPANK_FLOR_.*)=|OPTION_flor' "$file" >&2 || return 1
  done
}

@test "a job that a recorded one submits is not recorded, and runs though the name is taken by then" {
  around --flor-record --flor-store="$store" --flor-name=exp1 --flor-arg=lr=1 -- "
    env >a.env
    rm -rf '$store'/.names/$UID; mkdir -p '$store'/other '$store'/.names/$UID; echo '{}' >'$store'/other/run.json
    ln -s ../../other '$store'/.names/$UID/exp1
    sbatch -W -o b.out b.sh; sbatch -W --export=NONE -o b.out -D $PWD b.sh"
  grep -qx FLOR_RECORD=1 a.env
  [[ ! -s b.out ]]
  plain batch.env step.env
}

@test "so is one that a recorded step submits" {
  around -- "srun --overlap --flor-record --flor-store='$store' --flor-epsilon=0.25 sbatch -W -o b.out b.sh"
  plain batch.env step.env
}

@test "a job that a resumed one submits resumes nothing" {
  taken exp1
  around --flor-resume=exp1 --flor-store="$store" -- "env >a.env; rm -rf '$store'/*; sbatch -W -o b.out b.sh"
  grep -qx FLOR_RESUME=other a.env
  plain batch.env step.env
}

@test "a job that a worker of a replay submits is none" {
  taken exp1
  around --flor-replay=exp1 --flor-store="$store" -- "env >a.env; sbatch -W -o b.out b.sh"
  grep -qx FLOR_REPLAY=other a.env
  plain batch.env step.env
}

@test "salloc and sbatch in the shell of a recorded salloc take none of its flags" {
  run -0 salloc -Q -n2 --flor-record --flor-store="$store" --flor-name=exp1 bash -c "srun -n1 env >a.env; sbatch -W -n1 -o b.out b.sh
    salloc -Q -n1 srun env >c.env"
  grep -qx FLOR_RECORD=1 a.env
  plain batch.env step.env c.env
}

@test "srun that allocates a job of its own inside a recorded one takes none of its flags" {
  around -n1 --flor-record --flor-store="$store" --flor-name=exp1 -- "env -u SLURM_JOB_ID -u SLURM_JOBID srun -n1 env >step.env"
  plain step.env
}

@test "the flags that a job inside is given itself are its own, and no others" {
  around --flor-record --flor-store="$store" --flor-name=exp1 --flor-epsilon=0.25 --flor-arg=lr=1 -- \
    "sbatch -W -o b.out --flor-record --flor-store='$store' --flor-arg=seed=2 b.sh"
  for file in batch.env step.env; do
    grep -qx FLOR_RECORD=1 "$file"
    grep -qx "FLOR_STORE=$store" "$file"
    grep -qx FLOR_ARGS=seed=2 "$file"
    ! grep -E '^FLOR_(NAME|EPSILON)=' "$file" || return 1
  done
}

@test "what the user exports goes on to the jobs inside, also where a flag stood in front of it" {
  FLOR_STORE=$store/mine FLOR_EPSILON=0.5 around --flor-record --flor-store="$store" --flor-epsilon=0.25 --flor-keep=3 -- \
    "export FLOR_MTBF=2d FLOR_KEEP=7; sbatch -W -o b.out b.sh"
  for file in batch.env step.env; do
    grep -qx "FLOR_STORE=$store/mine" "$file"
    grep -qx FLOR_EPSILON=0.5 "$file"
    grep -qx FLOR_MTBF=2d "$file"
    grep -qx FLOR_KEEP=7 "$file"
    ! grep -q '^FLOR_RECORD=' "$file" || return 1
  done
}

@test "every step of a recorded job is recorded, also where one step starts another" {
  around --flor-record --flor-store="$store" --flor-epsilon=0.25 -- "srun --overlap srun --overlap env >step.env"
  grep -qx FLOR_RECORD=1 step.env
  grep -qx FLOR_EPSILON=0.25 step.env
  grep -qE '^FLOR_LAUNCH=flor\.[0-9]+\.1\.0$' step.env
}

@test "a job that a task of an array submits sees all that it would see without the plugin" {
  around -n1 --array=3 -- "env >a.env; srun --overlap env >own.env; sbatch -W -n1 -o b.out b.sh
    sbatch -W -n1 --array=5 -o c.out --wrap 'env >c.env'
    env -u SLURM_JOB_ID -u SLURM_JOBID srun -n1 env >d.env; salloc -Q -n1 srun env >e.env"
  # A job that follows an array finds the array's files by this number.
  for file in own.env batch.env step.env d.env e.env; do
    grep -qx "$(grep '^SLURM_ARRAY_JOB_ID=' a.env)" "$file"
    grep -qx SLURM_ARRAY_TASK_ID=3 "$file"
  done
  plain own.env batch.env step.env c.env d.env e.env
  grep -qx SLURM_ARRAY_TASK_ID=5 c.env
  [[ $(grep '^SLURM_ARRAY_JOB_ID=' c.env) != "$(grep '^SLURM_ARRAY_JOB_ID=' a.env)" ]]
}

@test "a recorded job that a task of an array submits is no task of it" {
  taken exp1
  flags="--flor-record --flor-store=$store --flor-name=exp1"
  # The name is the array's. Its tasks may have it, and the jobs that they submit may not.
  around -n1 --array=3 -- "echo flor.\$SLURM_ARRAY_JOB_ID >'$store'/other/jobs
    srun --overlap $flags env >a.env
    sbatch -W -n1 $flags -o b.out --wrap 'env >b.env'
    sbatch -W -n1 -o c.out --wrap 'srun $flags env >c.env'
    env -u SLURM_JOB_ID -u SLURM_JOBID srun -n1 $flags env >d.env 2>d.out
    sbatch -W -n1 --flor-record --flor-store='$store' -o e.out --wrap 'env >batch.env; srun --export=NONE /usr/bin/env >step.env'
    true"
  grep -qx FLOR_NAME=exp1 a.env
  for file in b c d; do
    grep -q "flor: --flor-name=exp1: already the name of run other" "$file.out"
    [[ ! -s $file.env ]]
  done
  # What scripts read there stays, and only Flor knows whose it is.
  for file in batch.env step.env; do
    grep -qx "$(grep '^SLURM_ARRAY_JOB_ID=' a.env)" "$file"
    grep -qx "SLURM_SPANK_FLOR_INHERITED=SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID" "$file"
  done
}

@test "a job that a requeued one submits counts its own starts" {
  cat >inner.sh <<INNER
#!/bin/bash
srun --flor-record --flor-store=$store printenv FLOR_LAUNCH SLURM_RESTART_COUNT >>launches
[[ -e inner.begun ]] || { touch inner.begun; exec sleep 1000; }
INNER
  cat >outer.sh <<OUTER
#!/bin/bash
[[ \${SLURM_RESTART_COUNT:-0} != 0 ]] || { touch outer.begun; exec sleep 1000; }
srun printenv SLURM_RESTART_COUNT >outer.count
sbatch --parsable -n1 --flor-record --flor-store=$store -o batch.out --wrap 'printenv FLOR_LAUNCH >batch.launch' >batch.id
sbatch --parsable -n1 --requeue --open-mode=append -o inner.out inner.sh >inner.id
OUTER
  outer=$(submit -n1 --requeue --open-mode=append -o outer.out outer.sh)
  until_true 60 test -e outer.begun
  scontrol requeue "$outer"
  until_true 30 job_is "$outer" PENDING
  again "$outer"
  # A step of the requeued job has the count.
  [[ $(<outer.count) == 1 ]]
  inner=$(<inner.id)
  until_true 60 test -e inner.begun
  scontrol requeue "$inner"
  until_true 30 job_is "$inner" PENDING
  again "$inner"
  [[ $(<launches) == "flor.$inner.0.0"$'\n1\n'"flor.$inner.0.1"$'\n1' ]]
  [[ $(<batch.launch) == "flor.$(<batch.id).batch.0" ]]
}

@test "a recorded step inside a resumed one resumes nothing" {
  taken exp1
  around -- "srun --overlap --flor-resume=exp1 --flor-store='$store' srun --overlap --flor-record --flor-store='$store' env >step.env"
  grep -qx FLOR_RECORD=1 step.env
  ! grep '^FLOR_RESUME=' step.env
}
