# The dashboard in a real browser while the cluster records and replays (tests/dashboard/on_cluster.py).

load helpers

setup_file() { use_cluster; }

teardown_file() { release_cluster; }

@test "the page follows a recording and a replay through a cut, a killed Redis and a reload" {
  cd "$BATS_TEST_TMPDIR"
  /usr/bin/python3 -B "$root/tests/dashboard/on_cluster.py" "$build/tests/rules/rules_program" "$build/bin" \
    "$build/tests/dashboard/screenshots" "$cluster"
}
