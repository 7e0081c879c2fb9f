#include "core/recording/execution.h"

namespace flor::core {

Json decision_row(const Execution& execution) {
  const CheckpointKind& kind = execution.kind;
  const Decision& decision = execution.decision;
  return {{"kind", "block"},
          {"at", execution.key.at},
          {"block", execution.key.block},
          {"seconds", execution.seconds},
          {"own", execution.own},
          {"n", kind.executions},
          {"k", kind.checkpoints},
          {"M", decision.M},
          {"c", decision.c},
          {"g", decision.g},
          {"interference", execution.interference},
          {"stall", execution.stall},
          {"bytes", kind.bytes},
          {"copied", kind.copied},
          {"credit", decision.credit},
          {"run", decision.run},
          // Infinity becomes null in JSON.
          {"window", decision.window},
          {"interval", decision.interval ? Json(*decision.interval) : Json()},
          {"since", decision.since},
          {"decision", execution.outcome},
          {"why", decision.why}};
}

Json checkpoint_row(const CheckpointKey& key, const Materialized& written) {
  Json row = {{"kind", "checkpoint"},   {"at", key.at},
              {"block", key.block},     {"file", key.file},
              {"state", written.state}, {"write", written.write},
              {"bytes", written.bytes}, {"written", written.written}};
  if (written.tier == Tier::local) row["tier"] = "local";
  if (!written.engine.empty()) row["engine"] = written.engine;
  return row;
}

}  // namespace flor::core
