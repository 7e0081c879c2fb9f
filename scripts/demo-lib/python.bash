# The demo of a program in Python that knows nothing of Flor: scripts/demo sources it.
# shellcheck shell=bash

titles=6
targets=(flor flor-agent spank_flor flor_python)
needs=(build run python)
# The interpreter that Debian's python3-torch belongs to.
python=/usr/bin/python3
arguments=(--epochs "${FLOR_DEMO_EPOCHS:-8}")

prepare() { cp examples/python/mnist.py "$demo/train.py"; }

# Adds a line behind the one that holds a text, and shows the edit.
add_line() {
  local behind=$1 line=$2
  cp "$demo/train.py" "$demo/before.py"
  awk -v behind="$behind" -v line="$line" '
    { print }
    index($0, behind) { match($0, /^ */); print substr($0, 1, RLENGTH) line }' "$demo/before.py" >"$demo/train.py"
  diff -u --label train.py --label "train.py, edited" "$demo/before.py" "$demo/train.py" || true
}

show() {
  local train=("$python" "$demo/train.py" "${arguments[@]}")
  title "Record: a flag of srun. The program is a tutorial as it is, and prints its loss and accuracy"
  run srun --flor-record --flor-name=mnist "${train[@]}" | grep 'Test set' || true
  run flor show mnist

  title "Hindsight: how large were the gradients? A print inside of the training loop"
  add_line 'loss.backward()' 'print("grad norm", model.fc1.weight.grad.norm())'
  run flor probes mnist -- "${train[@]}"
  run flor replay mnist --workers 4 --launcher slurm --keep-queue -- "${train[@]}"
  records mnist
  tell_of_cores
  run flor log mnist --names 'loss,model.fc1.weight.grad.norm()' --epochs 3:4 | head -n 24

  title "Another question: how large are the weights after each epoch? A print behind the training loop"
  cp examples/python/mnist.py "$demo/train.py"
  add_line 'scheduler.step()' 'print("weight norm", model.fc1.weight.norm())'
  run flor replay mnist --workers 2 --launcher slurm -- "${train[@]}"
  run flor log mnist --names 'accuracy,model.fc1.weight.norm()'
}

conclude() {
  cat <<EOT
A program was recorded that knows nothing of Flor. Then two questions were asked of the run, each a print that was added:
  - the gradient norm of every step: the training loop ran again, cut into segments that four array tasks of a Slurm job
    pulled from a Redis queue, each starting from a recorded checkpoint;
  - the weight norm of every epoch: the training loop was skipped, and what it changes was restored from checkpoints.
EOT
}
