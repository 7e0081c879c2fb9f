#include "probes/rules/probe_rules.h"

#include <algorithm>

#include "probes/cxx/blocks.h"
#include "probes/cxx/library.h"
#include "probes/cxx/names.h"
#include "probes/flow/slice.h"
#include "probes/rules/gradients.h"
#include "probes/rules/step_checks.h"

namespace flor::probes {

ProbeRules::ProbeRules(const Program& present, const Flow& flow, AnalysisBuilder* analysis)
    : present_(present),
      gradients_(gradient_names(present)),
      flow_(flow),
      model_(flow.model()),
      analysis_(*analysis) {
  for (size_t b = 0; b < model_.blocks.size(); ++b) {
    if (analysis_.so_far().all || analysis_.so_far().blocks.count(model_.blocks[b].name) != 0)
      executing_.insert(static_cast<int>(b));
  }
}

std::string ProbeRules::name_of(int block) const {
  return model_.blocks[static_cast<size_t>(block)].name;
}

int ProbeRules::line(const Found& found) const {
  return present_.sources[static_cast<size_t>(found.probe.source)].tree.tokens[found.probe.token].line;
}

std::string ProbeRules::where(const Found& found) const {
  return present_.sources[static_cast<size_t>(found.probe.source)].name + ":" + std::to_string(line(found));
}

// Executes the block and those around it: it is reached only through them.
void ProbeRules::execute(int block) {
  executing_.insert(block);
  analysis_.execute(name_of(block));
  const Block& at = model_.blocks[static_cast<size_t>(block)];
  for (size_t b = 0; b < model_.blocks.size(); ++b) {
    const Block& outer = model_.blocks[b];
    if (outer.source != at.source || outer.begin > at.begin || at.end > outer.end ||
        executing_.count(static_cast<int>(b)) != 0)
      continue;
    executing_.insert(static_cast<int>(b));
    analysis_.execute(outer.name);
  }
}

ProbeRules::Found ProbeRules::find(const EditClassifier::Probe& probe) const {
  Found found{probe, 0, -1, {}};
  const Tree& tree = present_.sources[static_cast<size_t>(probe.source)].tree;
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const int child : tree.node(found.node).children) {
      const Node& inner = tree.node(child);
      if (inner.begin > probe.token || probe.token >= inner.end) continue;
      found.node = child;
      deeper = true;
      break;
    }
  }
  // The innermost statement: of those that hold the token, the last to begin.
  for (size_t s = 0; s < model_.statements.size(); ++s) {
    const Statement& statement = model_.statements[s];
    if (statement.source != probe.source || statement.begin > probe.token || probe.token >= statement.end)
      continue;
    if (found.statement < 0 || model_.statement(found.statement).begin <= statement.begin)
      found.statement = static_cast<int>(s);
  }
  if (found.statement >= 0) found.around = flow_.blocks_running(found.statement);
  return found;
}

void ProbeRules::run(const std::vector<EditClassifier::Probe>& probes) {
  std::vector<Found> all;
  for (const EditClassifier::Probe& probe : probes) {
    all.push_back(find(probe));
    if (all.back().statement < 0)
      analysis_.everything(where(all.back()), "log added where it cannot be read");
  }
  for (const Found& found : all) around(found);
  for (const Found& found : all) gradients(found);
  // A block that one probe makes execute may matter to the next probe. Repeat until nothing is added.
  for (size_t before = executing_.size() + 1; before != executing_.size();) {
    before = executing_.size();
    for (const Found& found : all) {
      if (found.statement < 0) continue;
      Slice slice(flow_, executing_, steps_);
      const Wants wants = slice.of(found.statement);
      for (const std::string& reason : wants.reasons) analysis_.say(where(found), reason);
      for (const int block : wants.execute) execute(block);
    }
  }
  for (const Found& found : all) {
    between_steps(found);
    wants(found);
  }
}

void ProbeRules::around(const Found& found) {
  std::vector<std::string> names;
  const Tree& tree = present_.sources[static_cast<size_t>(found.probe.source)].tree;
  for (int block = block_around(tree, found.node); block >= 0;
       block = block_around(tree, tree.node(block).parent))
    names.push_back(tree.node(block).block);
  const bool inside = !names.empty();
  for (const int block : found.around) {
    if (std::find(names.begin(), names.end(), name_of(block)) == names.end()) names.push_back(name_of(block));
    execute(block);
  }
  if (names.empty()) return;
  std::string what =
      (inside ? "inside block " : "in a function that runs in block ") + names[0] + ": it executes";
  for (size_t i = 1; i < names.size(); ++i) what += (i == 1 ? ", and so does " : ", ") + names[i];
  analysis_.say(where(found), "log added " + what);
}

// Gradients' values are not part of checkpoints (docs/semantics.md, rule 3).
void ProbeRules::gradients(const Found& found) {
  const Tree& tree = present_.sources[static_cast<size_t>(found.probe.source)].tree;
  // By itself, or in a condition around it, which may declare what it logs.
  bool reads = mentions(tree, tree.node(found.node).begin, tree.node(found.node).end, gradients_.values);
  for (int up = tree.node(found.node).parent; up > 0 && tree.node(up).kind != NodeKind::kFunction;
       up = tree.node(up).parent)
    reads = reads || mentions(tree, tree.node(up).begin, tree.node(up).head_end, gradients_.values);
  if (!reads) return;
  gradients_of_calls(found);
  const GradientSource source = gradients_read(tree, found.node, gradients_.backward);
  if (source.earlier_step)
    analysis_.whole_iterations(where(found), "reads gradients that the step before may have left");
  if (!source.clear) {
    analysis_.from_start();
    analysis_.everything(where(found), "reads gradients, and which block leaves them is not clear");
    return;
  }
  for (const int at : source.blocks) {
    const std::string& name = tree.node(at).block;
    for (size_t b = 0; b < model_.blocks.size(); ++b) {
      if (model_.blocks[b].source == found.probe.source && model_.blocks[b].node == at)
        execute(static_cast<int>(b));
    }
    analysis_.say(where(found), "reads gradients, which block " + name + " leaves: it executes");
  }
}

// A function with blocks that the probe's function calls leaves them only where its blocks execute.
void ProbeRules::gradients_of_calls(const Found& found) {
  if (found.statement < 0) return;
  bool calls = false;
  for (const int s : model_.function(model_.statement(found.statement).function).statements) {
    for (const Call& call : model_.statement(s).calls)
      calls = calls || std::any_of(call.callees.begin(), call.callees.end(),
                                   [&](int callee) { return flow_.holds_blocks(callee); });
  }
  for (size_t s = 0; calls && s < model_.statements.size(); ++s) {
    for (const Change& change : model_.statements[s].changes) {
      if (model_.symbol(change.path.symbol).name != "(gradients)") continue;
      for (const int block : flow_.blocks_running(static_cast<int>(s))) {
        if (executing_.count(block) != 0) continue;
        execute(block);
        analysis_.say(where(found),
                      "reads gradients, which block " + name_of(block) + " leaves: it executes");
      }
    }
  }
}

// A replay that begins between two steps has what their checkpoints hold.
void ProbeRules::between_steps(const Found& found) {
  if (found.statement < 0) return;
  const Tree& tree = present_.sources[static_cast<size_t>(found.probe.source)].tree;
  std::set<std::string> names = unrestored_between_steps(tree);
  if (names.empty()) return;
  names = names_leading_to({&tree}, names, false);
  const Statement& at = model_.statement(found.statement);
  for (const std::string& name : names) {
    if (!mentions(tree, at.begin, at.end, {name})) continue;
    analysis_.whole_iterations(where(found),
                               "uses " + name + ", which steps change and no checkpoint between them holds");
  }
}

void ProbeRules::wants(const Found& found) {
  const Source& source = present_.sources[static_cast<size_t>(found.probe.source)];
  const int around = block_around(source.tree, found.node);
  AddedLog log{found.probe.name, source.file->path, line(found),
               around < 0 ? "" : source.tree.node(around).block};
  if (found.statement < 0) return analysis_.log(std::move(log));
  Slice slice(flow_, executing_, steps_);
  const Wants wants = slice.of(found.statement);
  for (const std::string& reason : wants.reasons) analysis_.say(where(found), reason);
  if (wants.too_much) {
    analysis_.from_start();
    analysis_.everything(where(found), "what it reads is too much to follow");
  }
  if (wants.from_start) analysis_.from_start();
  for (const int block : wants.lead_in) analysis_.execute_in_lead_in(name_of(block));
  log.inputs = wants.inputs;
  for (const int block : wants.depends) log.depends.insert(name_of(block));
  if (!wants.volatile_name.empty()) withhold(found, wants.volatile_name, wants.volatile_at, log);
  const bool left_alone = found.around.empty() && log.withheld.empty() && !analysis_.so_far().all &&
                          std::none_of(wants.depends.begin(), wants.depends.end(),
                                       [&](int block) { return executing_.count(block) != 0; });
  if (left_alone) analysis_.say(where(found), "log added outside blocks: they stay skipped");
  analysis_.log(std::move(log));
}

// May a block be skipped between the reading of a clock and the probe?
bool ProbeRules::skips_between(const Found& found, int statement, bool read_twice) const {
  // A clock that was read in front of the main loop: the time since then holds all that was skipped.
  if (!flow_.in_main_loop(statement)) return true;
  const Statement& clock = model_.statement(statement);
  std::string name = clock.volatile_name;
  for (const Call& call : clock.calls) {
    for (const int callee : flow_.callees_of(call)) name = name.empty() ? flow_.volatile_in(callee) : name;
  }
  if (!is_time_name(name)) return true;  // memory in use, files: the replay's own
  const Statement& probe = model_.statement(found.statement);
  // The time of day is the replay's; a time from a clock that only some iterations read began in another one.
  bool on_every_way = clock.parent < 0 && statement != found.statement;
  for (int up = probe.parent; up >= 0; up = model_.statement(up).parent)
    on_every_way = on_every_way || (up == clock.parent && statement != found.statement);
  if (!on_every_way && !read_twice) return true;
  if (clock.function != probe.function || clock.source != probe.source || clock.begin > probe.begin)
    return true;
  const auto skipped = [&](int block) { return executing_.count(block) == 0; };
  for (const int other : model_.function(probe.function).statements) {
    const Statement& between = model_.statement(other);
    if (between.begin < clock.begin || between.begin > probe.begin) continue;
    // A loop that begins in between, or was begun before: the clock may have been read in front of it.
    if (flow_.is_main_loop(other)) return true;
    const auto& blocks = flow_.blocks_running(other);
    if (std::any_of(blocks.begin(), blocks.end(), skipped)) return true;
    for (const Call& call : between.calls) {
      for (const int callee : flow_.callees_of(call)) {
        if (flow_.holds_blocks(callee)) return true;
      }
    }
  }
  return false;
}

// A clock read across a skipped block says nothing about the recorded run.
void ProbeRules::withhold(const Found& found, const std::string& name, const std::set<int>& at,
                          AddedLog& log) {
  log.is_volatile = true;
  const bool skips = executing_.size() < model_.blocks.size() && !analysis_.so_far().all;
  const auto between = std::find_if(at.begin(), at.end(), [&](int one) {
    return skips_between(found, one, one == found.statement && at.size() > 1);
  });
  if (!skips || between == at.end()) return;
  log.withheld =
      "reads " + name + " (" + model_.where(model_.statement(*between)) + ") across skipped blocks";
  analysis_.say(where(found), log.withheld + ": its rows are not given");
}

}  // namespace flor::probes
