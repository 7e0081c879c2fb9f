# A program without LibTorch (tests/rules/program/training.cpp) for the tests that are about Slurm and not about training. A test
# file says `load helpers` and `load small`.
# shellcheck shell=bash disable=SC2154

small_program=$build/tests/rules/rules_program

# small_store: for setup_file; the store and what is recorded lie in the file's own folder.
small_store() {
  use_cluster
  export FLOR_STORE=$BATS_FILE_TMPDIR/store
  cd "$BATS_FILE_TMPDIR"
}

# small_record NAME [SRUN FLAG…]: six units.
small_record() {
  local name=$1
  shift
  FLOR_EVERY=1 srun "$@" --flor-record --flor-store="$FLOR_STORE" --flor-name="$name" "$small_program" train --guard
}

# small_replay NAME [FLAG…] [-- PROGRAM FLAG…]: every block executes.
small_replay() {
  local name=$1 flags=()
  shift
  while (($# > 0)) && [[ $1 != -- ]]; do flags+=("$1"); shift; done
  flor replay "$name" --again --probe all --launcher slurm "${flags[@]}" -- "$small_program" train --guard --inner "${@:2}"
}
