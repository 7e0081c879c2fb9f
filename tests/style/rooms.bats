#!/usr/bin/env bats
# scripts/check-rooms on a copy of the tree in which something was planted.

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  copy=$BATS_TEST_TMPDIR/tree
  mkdir "$copy"
  (cd "$root" && git ls-files -z -co --exclude-standard -- scripts replay scheduler agent spank | xargs -0 cp --parents -t "$copy" 2>/dev/null) || true
  cd "$copy"
  git init -q .
}

@test "the tree as it is has no include that a room may not have" {
  run scripts/check-rooms
  [ "$status" -eq 0 ]
}

@test "an include of a room above is found, with its file and line" {
  sed -i '1i #include "core/recording/recorder.h"' replay/core/files/durable.h
  run scripts/check-rooms
  [ "$status" -eq 1 ]
  [[ "$output" == *"replay/core/files/durable.h:1: replay/core/files may not include replay/core/recording"* ]]
}

@test "an include of a room that stands apart is found" {
  sed -i '1i #include "results/rows/rows.h"' scheduler/queue/queue.h
  run scripts/check-rooms
  [ "$status" -eq 1 ]
  [[ "$output" == *"scheduler/queue/queue.h:1: scheduler/queue may not include scheduler/results"* ]]
}

@test "an include of the agent's that passes the queue by is found" {
  sed -i '1i #include "plan/units.h"' agent/leases.h
  run scripts/check-rooms
  [ "$status" -eq 1 ]
  [[ "$output" == *"agent/leases.h:1: agent may not include scheduler/plan"* ]]
}

@test "a file that stands in no room is found" {
  mkdir replay/core/attic
  echo '#pragma once' >replay/core/attic/old.h
  run scripts/check-rooms
  [ "$status" -eq 1 ]
  [[ "$output" == *"replay/core/attic/old.h: stands in no room"* ]]
}
