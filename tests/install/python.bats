# The wheel for Python, as a user installs it: into a virtual environment, beside the system's PyTorch.

bats_require_minimum_version 1.5.0

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
build=${FLOR_BUILD:-$root/build}

# As an ordinary user where this one is root.
setup_file() {
  export place
  place=$(mktemp -d /tmp/flor-python-XXXXXX)
  "$root/scripts/wheel" "$build" >/dev/null
  cp "$build"/flor-*.whl "$root/examples/python/classifier.py" "$place/"
  cp -r "$build/bin" "$place/"
  ((EUID != 0)) || chown -R nobody: "$place"
  as_user /usr/bin/python3 -m venv --system-site-packages "$place/venv"
  as_user "$place/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$place"/flor-*.whl
}

teardown_file() {
  rm -rf "${place:?}"
  ((EUID != 0)) || rm -rf "/tmp/flor-$(id -u nobody)"
}

as_user() {
  local user=()
  ((EUID != 0)) || user=(setpriv --reuid nobody --regid nogroup --clear-groups)
  env -u PYTHONPATH -u FLOR_REDIS -u XDG_RUNTIME_DIR -C "$place" HOME="$place" FLOR_STORE="$place/store" \
    PATH="$place/venv/bin:$place/bin:/usr/bin:/bin" "${user[@]}" "$@"
}

@test "a program is recorded and replayed with the package of the wheel" {
  run -0 as_user flor record --name first -- python3 classifier.py
  [[ $output == *"epoch=7 accuracy="* && $output == *"completed"* ]]
  as_user sed -i 's/flor.log("accuracy", accuracy)/&; flor.log("weight", net[0].weight.norm().item())/' classifier.py
  run -0 as_user flor replay first -- python3 classifier.py
  [[ $output == *": identical"* && $output == *"probe weight ("*"): held, proved on"* ]]
  run -0 as_user flor log first weight --format csv
  [[ ${#lines[@]} == 9 ]]
}

@test "a program that names nothing of Flor's is recorded and replayed with the start-up line of the wheel" {
  cp "$root/examples/python/gan.py" "$place/plain.py"
  run -0 as_user flor record --name plain -- python3 plain.py
  [[ $output == *"after 96 iterations: radius"* && $output == *"completed"* ]]
  as_user sed -i 's/^    with torch.no_grad():/    print("norm", netD[0].weight.norm())\n&/' plain.py
  run -0 as_user flor replay plain -- python3 plain.py
  [[ $output == *": identical"* && $output == *"netD[0].weight.norm() ("*"): held, proved on"* ]]
  run -0 as_user flor log plain 'netD[0].weight.norm()' --format csv
  [[ ${#lines[@]} == 7 ]]
}

@test "the package names its version, its interface and nothing of the build" {
  run -0 as_user "$place/venv/bin/pip" show --files --disable-pip-version-check flor
  [[ $output == *"Version: 0.2.0"* && $output == *"flor/libflor-c.so"* ]]
  run -1 grep -c "$build" "$place"/venv/lib/python3*/site-packages/flor/libflor-c.so
  as_user python3 -c 'import flor; help(flor)' | grep -q "Replay:  flor replay RUN"
}

@test "a wheel is made anew, with the same bytes" {
  local before
  before=$(sha256sum "$build"/flor-*.whl)
  "$root/scripts/wheel" "$build"
  [[ $(sha256sum "$build"/flor-*.whl) == "$before" ]]
}

@test "without a build, one line says what is missing" {
  run -1 "$root/scripts/wheel" /nowhere
  [[ $output == "scripts/wheel: /nowhere/python/flor is not there; build first: scripts/build" ]]
}
