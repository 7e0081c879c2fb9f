# The flags of srun, sbatch and salloc, on a real cluster.

load helpers

setup_file() {
  use_cluster
  [[ -e $build/lib/spank_flor.so ]] || { echo "build/lib/spank_flor.so is not built" >&2; return 1; }
}

teardown_file() {
  remove_ordinary_user
  release_cluster
}

setup() {
  cd "$BATS_TEST_TMPDIR"
  store=$BATS_TEST_TMPDIR/store
}

teardown() {
  ! mountpoint -q "$store" || privileged umount "$store"
  # No refusal may cost a node (a failure at the wrong place drains it).
  [[ -z $(sinfo -h -t drain,down -o %N) ]]
}

# A task that does what the library does when its first loop is reached.
recorder='mkdir -p "$FLOR_STORE/.launches/$(id -u)" && echo 20260101-000000-abcd > "$FLOR_STORE/.launches/$(id -u)/$FLOR_LAUNCH"'

make_run() {
  mkdir -p "$store/$1"
  echo '{}' >"$store/$1/run.json"
}

# make_label LABEL RUN
make_label() {
  mkdir -p "$store/.names/$UID"
  ln -s "../../$2" "$store/.names/$UID/$1"
}

# refused FLAG…: srun does not start the task and says so in one line, which names the first flag.
refused() {
  run srun "$@" touch "$BATS_TEST_TMPDIR/ran"
  [[ $status -ne 0 && ! -e $BATS_TEST_TMPDIR/ran ]]
  one_line "flor: $1:"
}

# --- values that mean nothing where they are given: the step runs

@test "a setting of a recording without a recording is warned about" {
  run -0 --separate-stderr srun --flor-keep=2 --flor-store="$store" true
  [[ $stderr == "flor: warning: --flor-keep has no effect without --flor-record" ]]
}

@test "a setting of a replay without a replay is warned about" {
  run -0 --separate-stderr srun --flor-epochs=3,7 --flor-probe=all true
  [[ ${#stderr_lines[@]} -eq 2 ]]
  [[ $stderr == *"--flor-probe has no effect without --flor-replay"*"--flor-epochs has no effect without --flor-replay"* ]]
}

@test "a setting that a job was submitted with is for those of its steps that record" {
  run -0 sbatch --wait --flor-keep=2 --flor-store="$store" -o out --wrap 'srun true; srun --flor-record sh -c "echo \$FLOR_KEEP"'
  [[ $(grep -c 'has no effect' out) -eq 0 ]]
  [[ $(grep -c '^2$' out) -eq 1 ]]
}

# --- bad values: refused at once by the command

@test "epsilon 0 is refused" {
  refused --flor-epsilon=0 --flor-record
}

@test "epsilon below 0 is refused" {
  refused --flor-epsilon=-1 --flor-record
}

@test "epsilon that is no number is refused" {
  refused --flor-epsilon=x --flor-record
}

@test "epsilon nan is refused" {
  refused --flor-epsilon=nan --flor-record
}

@test "epsilon inf is refused" {
  refused --flor-epsilon=inf --flor-record
}

@test "epsilon with something behind the number is refused" {
  refused --flor-epsilon=0.1% --flor-record
}

@test "a store with a relative path is refused" {
  refused --flor-store=store --flor-record
}

@test "a name with a slash is refused" {
  refused --flor-name=a/b --flor-record
}

@test "a name that begins with a dot is refused" {
  refused --flor-name=.. --flor-record
}

@test "a name of 129 letters is refused" {
  refused "--flor-name=$(printf 'a%.0s' {1..129})" --flor-record
}

@test "a hyper-parameter without a value is refused" {
  refused --flor-arg=lr --flor-record
}

@test "a hyper-parameter without a name is refused" {
  refused --flor-arg==0.1 --flor-record
}

@test "a hyper-parameter of two lines is refused" {
  run srun --flor-record $'--flor-arg=a=1\nb=2' touch ran
  [[ $status -ne 0 && ! -e ran && $output == *'a value cannot hold a line break'* ]]
}

@test "a way to write checkpoints that does not exist is refused" {
  refused --flor-materializer=threads --flor-record
}

@test "a time between failures of 0 is refused" {
  refused --flor-mtbf=0 --flor-record
}

@test "a time between failures with an unknown suffix is refused" {
  refused --flor-mtbf=2w --flor-record
}

@test "a time between failures that is only a suffix is refused" {
  refused --flor-mtbf=h --flor-record
}

@test "a local directory with a relative path is refused" {
  refused --flor-local=tmp --flor-record
}

@test "keeping 0 checkpoints is refused" {
  refused --flor-keep=0 --flor-record
}

@test "keeping a part of a checkpoint is refused" {
  refused --flor-keep=1.5 --flor-record
}

@test "keeping none is refused: it is no word for it" {
  refused --flor-keep=none --flor-record
}

@test "a run outside the store is refused" {
  refused --flor-replay=../run
}

@test "a replay with three parts is refused" {
  refused --flor-replay=a/b/c
}

@test "an empty name among the probes is refused" {
  refused --flor-probe=train,,eval --flor-replay=r
}

@test "an empty part of a list of epochs is refused" {
  refused --flor-epochs=3, --flor-replay=r
}

@test "epochs that are no numbers are refused" {
  refused --flor-epochs=a:b --flor-replay=r
}

@test "an empty range of epochs is refused" {
  refused --flor-epochs=7:3 --flor-replay=r
}

@test "record with replay is refused" {
  run srun --flor-record --flor-replay=r touch ran
  [[ $status -ne 0 && ! -e ran ]]
  one_line "--flor-record and --flor-replay"
}

@test "replay with record is refused" {
  run srun --flor-replay=r --flor-record touch ran
  [[ $status -ne 0 && ! -e ran ]]
  one_line "--flor-record and --flor-replay"
}

@test "sbatch refuses a bad value and submits nothing" {
  run sbatch --flor-epsilon=0 --job-name=refused-by-sbatch --wrap true
  [[ $status -ne 0 && -z $(squeue -h -n refused-by-sbatch -t all) ]]
  one_line "flor: --flor-epsilon=0:"
}

@test "sbatch refuses a bad value in an #SBATCH line" {
  printf '#!/bin/sh\n#SBATCH --flor-epsilon=x\ntrue\n' >job.sh
  run ! sbatch job.sh
  one_line "flor: --flor-epsilon=x:"
}

@test "salloc refuses a bad value" {
  run salloc --flor-epsilon=-1 touch ran
  [[ $status -ne 0 && ! -e ran ]]
  one_line "flor: --flor-epsilon=-1:"
}

# --- what cannot be had: the task fails at once, with one line

@test "a store whose parent is not there fails the task" {
  run -1 srun --flor-record --flor-store="$BATS_TEST_TMPDIR/no/store" touch ran
  [[ ! -e ran && ! -e no ]]
  one_line "its parent directory does not exist"
}

@test "a store that is a file fails the task" {
  touch "$store"
  run -1 srun --flor-record --flor-store="$store" touch ran
  [[ ! -e ran ]]
  one_line "is not a directory"
}

@test "a store that is not writable fails the task of an ordinary user" {
  needs_ordinary_user
  mkdir -m 755 "$store"
  chmod 755 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test"
  run -1 ordinary srun -D / --flor-record --flor-store="$store" true
  one_line "cannot be written: Permission denied"
}

@test "a full disk fails the task" {
  mkdir "$store"
  privileged mount -t tmpfs -o size=64k,mode=777 flor-test "$store"
  dd if=/dev/zero of="$store/filler" bs=64k count=2 2>/dev/null || true
  run srun --flor-record --flor-store="$store" touch ran
  privileged umount "$store"
  [[ $status -eq 1 && ! -e ran ]]
  one_line "No space left on device"
}

@test "a name that is taken fails the task and names its run" {
  make_run 20260101-000000-abcd
  make_label baseline 20260101-000000-abcd
  run -1 srun --flor-record --flor-store="$store" --flor-name=baseline touch ran
  [[ ! -e ran ]]
  one_line "--flor-name=baseline: already the name of run 20260101-000000-abcd"
}

@test "a name of another user is free" {
  make_run 20260101-000000-abcd
  mkdir -p "$store/.names/4242"
  ln -s ../../20260101-000000-abcd "$store/.names/4242/baseline"
  run -0 srun --flor-record --flor-store="$store" --flor-name=baseline sh -c "$recorder"
  no_line
}

@test "a requeued job keeps the name that its first attempt took" {
  cat >job.sh <<JOB
#!/bin/sh
#SBATCH --flor-record --flor-store=$store --flor-name=baseline --requeue --open-mode=append -o $PWD/out
if [ "\$SLURM_RESTART_COUNT" = 1 ]; then srun printenv FLOR_LAUNCH; exit; fi
srun sh -c '$recorder'
mkdir -p $store/.names/$UID && ln -s ../../20260101-000000-abcd $store/.names/$UID/baseline
touch ready
sleep 600
JOB
  job=$(submit job.sh)
  until_true 30 test -e ready
  scontrol requeue "$job"
  until_true 90 job_is "$job" COMPLETED
  grep -qx "flor.$job.0.1" out
}

@test "a job that starts again trains on where the store cannot be used any more" {
  cat >job.sh <<JOB
#!/bin/sh
#SBATCH --requeue --open-mode=append -o $PWD/out
if [ "\$SLURM_RESTART_COUNT" = 1 ]; then
  srun --flor-record --flor-store=$PWD/no/store sh -c 'echo "recorded: \$FLOR_RECORD"'
  $BATS_TEST_DIRNAME/../../build/bin/flor record --store $PWD/no/store --arg lr=0.1 -- sh -c 'echo "trained with \$FLOR_ARGS"'
  exit
fi
touch ready
sleep 600
JOB
  job=$(submit job.sh)
  until_true 30 test -e ready
  scontrol requeue "$job"
  until_true 90 job_is "$job" COMPLETED
  grep -qx "recorded: " out
  grep -qx "trained with lr=0.1" out
  [[ $(grep -c "warning: not recorded: .*no/store" out) -eq 2 ]]
}

@test "a later step of a job may carry the name that the job's run has" {
  cat >job.sh <<JOB
#!/bin/sh
#SBATCH --flor-record --flor-store=$store --flor-name=baseline -o $PWD/out
srun sh -c '$recorder'
mkdir -p $store/.names/$UID $store/20260101-000000-abcd
echo "flor.\$SLURM_JOB_ID" >$store/20260101-000000-abcd/jobs
ln -s ../../20260101-000000-abcd $store/.names/$UID/baseline
srun touch ran
JOB
  run -0 sbatch -W job.sh
  [[ -e ran ]]
}

@test "an unknown run fails the task" {
  mkdir "$store"
  run -1 srun --flor-replay=nowhere --flor-store="$store" touch ran
  [[ ! -e ran ]]
  one_line "flor: --flor-replay=nowhere: no such run in store $store"
}

@test "an unknown run in a store that is not there fails the task and creates nothing" {
  run -1 srun --flor-replay=nowhere --flor-store="$store" touch ran
  [[ ! -e ran && ! -e $store ]]
  one_line "no such run"
}

@test "recording a step of several tasks fails all of them with one line" {
  run -1 srun -n3 -N3 --flor-record --flor-store="$store" touch ran
  [[ ! -e ran && ! -e $store ]]
  one_line "a step of several tasks cannot be recorded yet"
}

@test "of a job that is to be recorded, a step of several tasks runs unrecorded with one line" {
  cat >job.sh <<JOB
#!/bin/bash
#SBATCH --flor-record -n3 -N3 -o out
export FLOR_STORE=$store
set -e
srun -n3 -N3 bash -c 'touch ran-\$SLURM_PROCID; [[ -z \$FLOR_RECORD ]]'
srun -n1 -N1 touch trained
JOB
  run -0 sbatch -W job.sh
  [[ -e ran-0 && -e ran-1 && -e ran-2 && -e trained ]]
  [[ $(grep -c 'warning: not recorded: a step of several tasks cannot be recorded yet' out) -eq 1 ]]
}

@test "of a job that is to resume a run, a step of several tasks fails with one line" {
  make_run r1
  for flags in --flor-resume=r1 "--flor-record --flor-resume=r1"; do
    cat >job.sh <<JOB
#!/bin/bash
#SBATCH $flags -n3 -N3 -o out
#SBATCH --flor-store=$store
srun -n3 -N3 touch ran
JOB
    run -1 sbatch -W job.sh
    [[ ! -e ran ]]
    output=$(<out)
    one_line "flor: --flor-resume: a step of several tasks cannot be recorded yet"
  done
}

@test "a step of several tasks that runs unrecorded resumes nothing" {
  cat >job.sh <<JOB
#!/bin/bash
#SBATCH --flor-record --flor-store=$store -n3 -N3 -o out
FLOR_RESUME=r1 FLOR_RECORD=1 FLOR_REPLAY=r1 srun -n3 -N3 env >env
JOB
  run -0 sbatch -W job.sh
  [[ $(grep -c '^SLURM_PROCID=' env) -eq 3 ]]
  ! grep -E '^FLOR_(RESUME|RECORD|REPLAY|LAUNCH)=' env >&2
}

@test "a batch job whose recording cannot begin fails, with the line in its output" {
  run sbatch -W -o out --flor-record --flor-store="$PWD/no/store" --wrap 'touch ran'
  [[ $status -eq 1 && ! -e ran ]]
  output=$(<out)
  one_line "its parent directory does not exist"
}

# --- help

@test "srun, sbatch and salloc --help show every option" {
  local command option
  for command in srun sbatch salloc; do
    run -0 "$command" --help
    for option in record epsilon=E store=DIR name=NAME arg=NAME=VALUE materializer=HOW mtbf=TIME local=DIR keep=N \
      replay=RUN probe=WHICH epochs=A:B; do
      [[ $output == *"--flor-$option "* ]]
    done
  done
}

# --- the environment of the tasks

@test "the settings of a recording reach the task" {
  run -0 srun --flor-record --flor-store="$store" --flor-epsilon=0.25 --flor-name=baseline --flor-arg=lr=0.1 env
  for expected in FLOR_RECORD=1 "FLOR_STORE=$store" FLOR_EPSILON=0.25 FLOR_NAME=baseline FLOR_ARGS=lr=0.1 \
    FLOR_RANK=0 FLOR_WORLD=1; do
    grep -qx "$expected" <<<"$output"
  done
  job=$(grep -o '^SLURM_JOB_ID=.*' <<<"$output" | cut -d= -f2)
  grep -qx "FLOR_LAUNCH=flor.$job.0.0" <<<"$output"
}

@test "how checkpoints are written and kept reaches the task" {
  run -0 srun --flor-record --flor-store="$store" --flor-materializer=fork-batch --flor-mtbf=1.5h --flor-local=/dev/shm \
    --flor-keep=3 env
  for expected in FLOR_MATERIALIZER=fork-batch FLOR_MTBF=1.5h FLOR_LOCAL=/dev/shm FLOR_KEEP=3; do
    grep -qx "$expected" <<<"$output"
  done
}

@test "the settings of a replay reach every task" {
  make_run r1
  run -0 srun -n4 -N4 --flor-replay=r1/job-7 --flor-store="$store" --flor-probe=train,eval --flor-epochs=-2:5 env
  for expected in FLOR_REPLAY=r1/job-7 FLOR_PROBE=train,eval FLOR_EPOCHS=-2:5 "FLOR_STORE=$store"; do
    [[ $(grep -cx "$expected" <<<"$output") -eq 4 ]]
  done
  lacks '^FLOR_RECORD='
}

@test "epochs are written as for flor replay" {
  make_run r1
  for epochs in 7 3,7 3,7,40:60 40: :60; do
    run -0 srun --flor-replay=r1/job-7 --flor-store="$store" "--flor-epochs=$epochs" printenv FLOR_EPOCHS
    [[ $output == "$epochs" ]]
  done
}

@test "a replay may name its run by the label" {
  make_run r1
  make_label baseline r1
  run -0 srun --flor-replay=baseline --flor-store="$store" printenv FLOR_REPLAY
  [[ $output == r1 ]]
}

@test "the flag overrules an environment that asks for the opposite" {
  make_run r1
  FLOR_RECORD=1 run -0 srun --flor-replay=r1 --flor-store="$store" env
  lacks '^FLOR_RECORD='
  FLOR_REPLAY=r1 run -0 srun --flor-record --flor-store="$store" env
  lacks '^FLOR_REPLAY='
}

@test "several hyper-parameters arrive in order, one a line" {
  run -0 srun --flor-arg=lr=0.1 '--flor-arg=note=a, b = c' --flor-arg=seed=7 printenv FLOR_ARGS
  [[ $output == $'lr=0.1\nnote=a, b = c\nseed=7' ]]
}

@test "of a hyper-parameter given twice the last counts, and flags come before the environment" {
  FLOR_ARGS=$'lr=1\nwidth=64' run -0 srun --flor-arg=lr=2 --flor-arg=lr=3 printenv FLOR_ARGS
  [[ $output == $'width=64\nlr=3' ]]
}

@test "srun --export=NONE loses no setting" {
  run -0 srun --export=NONE --flor-record --flor-store="$store" --flor-arg=a=1 --flor-arg=b=2 /usr/bin/env
  grep -qx FLOR_RECORD=1 <<<"$output"
  [[ $output == *$'FLOR_ARGS=a=1\nb=2'* ]]
}

@test "without a flag nothing is set and nothing is written" {
  FLOR_STORE=$store run -0 srun env
  [[ ! -e $store ]]
  lacks '^FLOR_(RECORD|REPLAY|LAUNCH|RANK|WORLD|ARGS|EPSILON|NAME|MATERIALIZER|MTBF|LOCAL|KEEP)='
}

@test "the store comes from FLOR_STORE when there is no flag" {
  FLOR_STORE=$store run -0 srun --flor-record sh -c "$recorder && printenv FLOR_STORE"
  [[ $output == "$store" && -d $store ]]
}

@test "the store comes from the user's flor.conf when there is neither flag nor variable" {
  mkdir -p config/flor
  printf '# mine\nepsilon = 0.1\nstore = %s # big disk\n' "$store" >config/flor/flor.conf
  XDG_CONFIG_HOME=$PWD/config run -0 srun --flor-record sh -c "$recorder && printenv FLOR_STORE"
  [[ $output == "$store" ]]
}

@test "the store is ~/.flor when nobody says otherwise" {
  mkdir home
  HOME=$PWD/home run -0 srun --flor-record sh -c "$recorder && printenv FLOR_STORE"
  [[ $output == "$PWD/home/.flor" && -d home/.flor ]]
}

@test "a store below ~ is found" {
  mkdir home
  HOME=$PWD/home run -0 srun --flor-record '--flor-store=~/runs' sh -c "$recorder && printenv FLOR_STORE"
  [[ $output == "$PWD/home/runs" ]]
}

# --- sbatch and salloc

@test "#SBATCH lines reach the srun steps inside, also under --export=NONE" {
  cat >job.sh <<JOB
#!/bin/bash
#SBATCH --flor-record --flor-store=$store --flor-epsilon=0.25
#SBATCH --flor-arg=lr=0.1
#SBATCH --flor-arg=seed=7
#SBATCH --export=NONE -o $PWD/out
srun --flor-arg=lr=0.5 /usr/bin/env
JOB
  sbatch -W job.sh
  grep -qx FLOR_RECORD=1 out
  grep -qx "FLOR_STORE=$store" out
  grep -qx FLOR_EPSILON=0.25 out
  grep -qE '^FLOR_LAUNCH=flor\.[0-9]+\.0\.0$' out
  [[ $(<out) == *$'FLOR_ARGS=seed=7\nlr=0.5'* ]]
}

@test "a launch of the same name, which a forgotten job left in the store, is not taken for this one" {
  run -0 srun printenv SLURM_JOB_ID
  local next=$((output + 1))
  mkdir -p "$store/.launches/$UID"
  echo 20260101-000000-abcd >"$store/.launches/$UID/flor.$next.0.0"
  run -0 srun --flor-record --flor-store="$store" sh -c 'echo "$FLOR_LAUNCH"; cat "$FLOR_STORE/.launches/$(id -u)/$FLOR_LAUNCH" || true'
  [[ $output == *"flor.$next.0.0"* ]]
  lacks abcd
}

@test "each step of a recorded job is a launch of its own" {
  sbatch -W -o out --flor-record --flor-store="$store" --wrap "srun sh -c '$recorder'; srun sh -c '$recorder'"
  [[ $(find "$store/.launches" -name '*.0.0' -o -name '*.1.0' | wc -l) -eq 2 ]]
}

@test "the batch step is a launch too, for scripts that train without srun" {
  sbatch -W -n4 -o out --flor-record --flor-store="$store" --flor-arg=a=1 --flor-arg=b=2 --wrap env
  grep -qx FLOR_RECORD=1 out
  grep -qE '^FLOR_LAUNCH=flor\.[0-9]+\.batch\.0$' out
  [[ $(<out) == *$'FLOR_ARGS=a=1\nb=2'* ]]
}

@test "the batch step is a launch also under --export=NONE, where Slurm does not call the plugin back" {
  sbatch -W --export=NONE -o out --flor-record --flor-store="$store" --flor-arg=a=1 --flor-arg=b=2 --wrap env
  grep -qE '^FLOR_LAUNCH=flor\.[0-9]+\.batch\.0$' out
  [[ $(<out) == *$'FLOR_ARGS=a=1\nb=2'* ]]
}

@test "every task of an array that replays is a worker" {
  make_run r1
  sbatch -W --array=0-3 -o out-%a --flor-replay=r1 --flor-store="$store" --wrap 'printenv FLOR_REPLAY; srun printenv FLOR_REPLAY'
  [[ $(cat out-{0..3}) == $'r1\nr1\nr1\nr1\nr1\nr1\nr1\nr1' ]]
}

@test "salloc's flags reach the srun steps inside" {
  run -0 salloc -Q --flor-record --flor-store="$store" --flor-arg=a=1 --flor-arg=b=2 srun sh -c "$recorder; printenv FLOR_ARGS"
  [[ $output == $'a=1\nb=2' ]]
  [[ $(find "$store/.launches" -name '*.0.0' | wc -l) -eq 1 ]]
}

# --- the warning, and the program's own exit code

@test "a program that never calls the library: its own exit code and one warning" {
  run -7 srun --flor-record --flor-store="$store" sh -c 'exit 7'
  one_line "flor: warning: step"
  [[ -z $(ls "$store/.launches/$UID" -A) ]]
}

@test "a program that succeeds without the library: exit code 0 and one warning" {
  run -0 srun --flor-record --flor-store="$store" true
  one_line "flor: warning: step"
}

@test "a program that recorded gets no warning, and keeps its exit code" {
  run -3 srun --flor-record --flor-store="$store" sh -c "$recorder; exit 3"
  no_line
  [[ $(find "$store/.launches" -type f | wc -l) -eq 1 ]]
}

@test "a step without --flor-record gets no warning" {
  run -0 srun --flor-store="$store" true
  no_line
}

@test "a program killed by a signal before its first loop keeps its exit code" {
  run -139 srun --flor-record --flor-store="$store" sh -c 'kill -SEGV $$'
  one_line "flor: warning: step"
}

@test "a store that srun does not see gives no warning" {
  run -0 srun --flor-record --flor-store="$store" sh -c 'mv "$FLOR_STORE" "$FLOR_STORE.elsewhere"'
  no_line
}

# --- a store that hangs

# hang DIRECTORY: mounts a file system there whose server reads no request. Sets $server.
hang() {
  mkdir -p "$1"
  privileged python3 - "$1" <<'SERVER' 3>&- &
import ctypes, os, sys, time
fuse = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
if ctypes.CDLL(None, use_errno=True).mount(b"hangs", sys.argv[1].encode(), b"fuse", 0, options) != 0:
    sys.exit(1)
time.sleep(600)
SERVER
  server=$!
  until_true 10 sh -c "grep -q ' $1 fuse' /proc/mounts || ! kill -0 $server"
  grep -q " $1 fuse" /proc/mounts
}

@test "a store that hangs: the task goes on without recording, srun ends, and the node stays" {
  hang "$store" || skip "no file system can be mounted here that hangs"
  run srun --flor-record --flor-store="$store" sh -c 'echo "record=$FLOR_RECORD."; exit 5'
  privileged kill "$server"
  until_true 10 sh -c "! grep -q ' $store fuse' /proc/mounts || umount -l '$store'"
  [[ $status -eq 5 && $output == *"record=."* ]]
  one_line "warning: not recorded: $store does not answer within 30 s"
}

@test "a line break in the store's path breaks no line of the log" {
  run -1 srun --flor-record --flor-store="$store/no"$'\n'"flor: forged" touch ran
  one_line 'parent directory does not exist'
}

# --- users, and what the plugin is made of

@test "an ordinary user records into the default store" {
  needs_ordinary_user
  run -0 ordinary srun -D / --flor-record sh -c "$recorder; id -un; printenv FLOR_STORE"
  [[ $output == "$ordinary_user"$'\n'"$ordinary_home/.flor" ]]
  [[ $(stat -c %U "$ordinary_home/.flor/.launches/"*/* | sort -u) == "$ordinary_user" ]]
}

@test "the plugin links nothing but libc and libm" {
  run -0 readelf -d "$build/lib/spank_flor.so"
  [[ -z $(grep NEEDED <<<"$output" | grep -vE 'lib(c|m)\.so|ld-linux') ]]
}

@test "the plugin exports Slurm's symbols and no others" {
  run -0 nm -D --defined-only "$build/lib/spank_flor.so"
  [[ -z $(grep -vE ' (slurm_spank_[a-z_]+|plugin_(name|type|version)|spank_plugin_version)$' <<<"$output") ]]
}
