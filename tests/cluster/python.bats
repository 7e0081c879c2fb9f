# A Python program under srun, and its replay by a job array, with the package of the build.

load helpers
load training

setup_file() {
  use_cluster_and_store
  export PYTHONPATH=$build/python
}

teardown_file() { release_cluster; }

setup() {
  cd "$BATS_TEST_TMPDIR"
  cp "$root/examples/python/classifier.py" .
}

@test "a Python program is recorded under srun and replayed by four array tasks: rows of a plain run" {
  FLOR_EVERY=1 srun -n1 --flor-record --flor-name=python /usr/bin/python3 -B classifier.py
  [[ $(flor runs --json | jq -r '.[] | select(.name == "python") | "\(.status) \(.progress)"') == "completed 8/8" ]]
  sed -i 's/^\( *\)flor.log("loss", loss.item())/&\n\1flor.log("norm", net[0].weight.grad.norm().item())/' classifier.py
  run -0 flor replay python --workers 4 -- /usr/bin/python3 -B classifier.py
  [[ $output == *": identical"* && $output == *"log added inside block train: it executes"* ]]
  FLOR_LOG=$PWD/plain.jsonl /usr/bin/python3 -B classifier.py >/dev/null
  diff <(jq -c 'select(.name == "norm") | [.epoch, .step, .value]' plain.jsonl) \
    <(flor log python norm --format jsonl | jq -c '[.epoch, .step, .value]')
}

@test "a Python program that names nothing of Flor's is recorded under srun and replayed by array tasks" {
  unset PYTHONPATH
  cp "$root/examples/python/vae.py" .
  FLOR_EVERY=1 srun -n1 --flor-record --flor-name=plain /usr/bin/python3 -B vae.py
  [[ $(flor runs --json | jq -r '.[] | select(.name == "plain") | "\(.status) \(.progress)"') == "completed 6/6" ]]
  sed -i 's/^\( *\)model.eval()/&\n\1print("norm", model.fc4.bias.norm())/' vae.py
  run -0 flor replay plain --workers 3 -- /usr/bin/python3 -B vae.py
  [[ $output == *": identical"* && $output == *"blocks: 0 executed"* ]]
  FLOR_HANDS_FREE=1 FLOR_LOG=$PWD/plain.jsonl PYTHONPATH=$build/python/flor-hook /usr/bin/python3 -B vae.py >/dev/null
  diff <(jq -c 'select(.name == "model.fc4.bias.norm()") | [.epoch, .value]' plain.jsonl) \
    <(flor log plain 'model.fc4.bias.norm()' --format jsonl | jq -c '[.epoch, .value]')
}
