# The demo of a program in C++: scripts/demo sources it.
# shellcheck shell=bash

titles=7
targets=(flor flor-agent spank_flor char_lm)
needs=(build run)
probes=$demo/probes
steps=${FLOR_DEMO_STEPS:-40}
arguments=(--epochs 12 --steps "$steps")

# Copies of the example, each with a probe, in a project of their own that finds Flor as a user's does.
write_probes() {
  local kind
  mkdir -p "$probes"/{inner,outer,metered,meter}
  for kind in inner outer metered; do cp examples/char_lm.cpp "$probes/$kind/"; done
  for kind in inner outer metered; do apply_probe "$kind"; done
  cp "$probes/metered/char_lm.cpp" "$probes/meter/"
  apply_probe meter
  cp examples/probes/CMakeLists.txt "$probes/"
  cmake -S "$probes" -B "$probes/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFlor_DIR="$build/package" \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"$demo/cmake.log" 2>&1 || { cat "$demo/cmake.log"; exit 1; }
}

apply_probe() {
  patch --quiet --no-backup-if-mismatch "$probes/$1/char_lm.cpp" "examples/probes/char_lm-$1.patch"
}

# Shows what a probe adds to the example, or to the copy that the second argument names, and builds it.
add_probe() {
  local kind=$1 recorded=${2:+$probes/$2/char_lm.cpp}
  diff -u --label char_lm.cpp --label "char_lm.cpp, edited" "${recorded:-examples/char_lm.cpp}" \
    "$probes/$kind/char_lm.cpp" || true
  cmake --build "$probes/build" -j "$cores" --target "$kind"
}

prepare() { write_probes; }

show() {
  title "Record: a flag of srun. The program logs its loss and nothing else"
  run srun --flor-record --flor-name=shakespeare "$build/bin/char_lm" "${arguments[@]}" | grep -E 'step=0|validation' || true
  run flor show shakespeare

  title "Hindsight: how large were the gradients? A probe inside of the training block"
  add_probe inner
  run flor replay shakespeare --workers 4 --launcher slurm --keep-queue -- "$probes/build/inner/char_lm" "${arguments[@]}"
  records shakespeare
  tell_of_cores
  run flor log shakespeare --names loss,grad_norm --epochs 3:4 | head -n 24

  title "Another question: how large are the weights after each epoch? A probe outside of the block"
  add_probe outer
  run flor replay shakespeare --workers 2 --launcher slurm -- "$probes/build/outer/char_lm" "${arguments[@]}"
  run flor log shakespeare --names validation_loss,weight_norm

  title "A question that a skipped block would answer wrongly: a meter that the block does not hold"
  add_probe metered
  local short=(--epochs 4 --steps "$steps")
  run srun --flor-record --flor-name=metered "$probes/build/metered/char_lm" "${short[@]}" | grep -E 'validation' || true
  add_probe meter metered
  run flor probes metered -- "$probes/build/meter/char_lm" "${short[@]}"
  run flor replay metered --workers 2 --launcher slurm -- "$probes/build/meter/char_lm" "${short[@]}"
  run flor log metered --names mean_loss
}

conclude() {
  cat <<EOT
A run was recorded once, with the loss alone. Then two questions were asked of it:
  - the gradient norm of every step: the training blocks ran again, cut into segments that four array tasks of a Slurm
    job pulled from a Redis queue, each starting from a recorded checkpoint;
  - the weight norm of every epoch: every training block was skipped, its effects were restored from its checkpoint.
Of a second run the meter was asked, which its training block changes and does not hold: record had named it, and
the block executed, since the meter of a skipped block would be another one's.
EOT
}
