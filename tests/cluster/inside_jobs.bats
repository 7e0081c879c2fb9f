# `flor replay` as it is typed inside a job: what Slurm set for that job is not for the workers. And how many workers
# Slurm takes.

load helpers
load small

setup_file() {
  export FLOR_CLUSTER_DIR=/tmp/flor-cluster-inside-$$ FLOR_CLUSTER_NODES=i
  small_store
  small_record main
}

teardown_file() { "$cluster" down; }

setup() { cd "$BATS_TEST_TMPDIR"; }

export -f small_replay

identical() {
  [[ $status -eq 0 && $output == *": identical"* ]] || { echo "$output" >&2; return 1; }
}

@test "inside salloc --mem-per-cpu" {
  run salloc -n1 --mem-per-cpu=100 bash -c "small_program=$small_program small_replay main --workers 2 --mem 200"
  identical
}

@test "inside srun --pty, with what a user told sbatch in general" {
  # script gives srun a terminal, through $SHELL or /bin/sh, which may be dash: it drops the functions of bash.
  SHELL=$(command -v bash) SBATCH_EXPORT=NONE SBATCH_PARTITION=main SBATCH_MEM_PER_NODE=100 PMI_RANK=3 PMIX_RANK=3 PMI_FD=5 \
    run script -qec "srun -n1 --mem-per-cpu=100 --pty bash -c 'small_program=$small_program small_replay main --workers 2'" /dev/null
  identical
  job=$(sed -n 's/.*job \([0-9]*\), 2 tasks.*/\1/p' <<<"$output" | head -n 1)
  [[ $(scontrol show job "$job") == *Partition=main*MinMemoryNode=100M* ]]
}

@test "inside a batch job of several tasks, with a GPU" {
  printf '%s\n' '#!/bin/bash' "small_program=$small_program" "$(declare -f small_replay)" 'small_replay main --workers 2 --mem 200' >job.sh
  sbatch -W -o "$PWD/out" -n2 --mem-per-cpu=100 --gres=gpu:1 job.sh || cat out
  run cat out
  identical
}

gone() { [[ ! -d /proc/$1 || $(ps -o stat= -p "$1") == Z* ]]; }

answers() { scontrol ping | grep -q UP && [[ $(sinfo -h -N -p main -t idle -o %N | wc -l) -eq 4 ]]; }

@test "more workers than an array may have tasks" {
  conf=$FLOR_CLUSTER_DIR/etc/slurm.conf
  pid=$(cat "$FLOR_CLUSTER_DIR/run/slurmctld.pid")
  sed -i 's/^MaxArraySize=.*/MaxArraySize=3/' "$conf"
  # It is read at the start only.
  kill "$pid"
  until_true 20 gone "$pid"
  slurmctld -f "$conf" 3>&-
  until_true 20 answers
  run small_replay main --workers 5
  identical
  [[ $(grep -c 'MaxArraySize' <<<"$output") -eq 1 && $output == *"3 tasks (5 are more than Slurm's MaxArraySize, 3)"* ]]
}
