// Finds where statements run: in which blocks and loops, once or in each iteration.
#include <algorithm>

#include "probes/flow/flow.h"

namespace flor::probes {

// Statements that run where an object is made without a word, and change more than the object: no call shows
// where that is.
void Flow::find_unseen() {
  unseen_.assign(model_.statements.size(), false);
  for (size_t s = 0; s < unseen_.size(); ++s) {
    const Statement& statement = model_.statements[s];
    if (!statement.apart && !model_.function(statement.function).hidden) continue;
    unseen_[s] = !statement.calls.empty() || statement.unknown ||
                 std::any_of(statement.changes.begin(), statement.changes.end(), [&](const Change& change) {
                   return model_.symbol(change.path.symbol).function < 0 && !is_member(change.path.symbol);
                 });
  }
}

void Flow::find_blocks() {
  const size_t functions = model_.functions.size();
  around_.resize(model_.statements.size());
  function_blocks_.resize(functions);
  holds_blocks_.resize(functions, false);
  std::set<int> all;
  for (size_t b = 0; b < model_.blocks.size(); ++b) {
    const Block& block = model_.blocks[b];
    all.insert(static_cast<int>(b));
    holds_blocks_[static_cast<size_t>(block.function)] = true;
    for (size_t s = 0; s < model_.statements.size(); ++s) {
      const Statement& statement = model_.statements[s];
      if (statement.source == block.source && block.begin <= statement.begin && statement.begin < block.end)
        around_[s].insert(static_cast<int>(b));
    }
  }
  for (size_t s = 0; s < unseen_.size(); ++s) {
    if (unseen_[s]) around_[s] = all;
  }
  for (size_t f = 0; f < functions; ++f) {
    if (model_.functions[f].implicit || model_.functions[f].escapes) function_blocks_[f] = all;
  }
  std::vector<int> grew(functions, 0);  // in which round the function's blocks became more
  bool again = true;
  for (int round = 1; again; ++round) {
    again = false;
    for (size_t f = 1; f < functions; ++f) {
      const size_t before = function_blocks_[f].size();
      for (const Site& site : sites_[f]) {
        const auto caller = static_cast<size_t>(model_.statement(site.statement).function);
        const auto& lexical = around_[static_cast<size_t>(site.statement)];
        const auto& outer = function_blocks_[caller];
        if (before < all.size() && grew[caller] + 1 >= round) {
          if (round == 1) function_blocks_[f].insert(lexical.begin(), lexical.end());
          function_blocks_[f].insert(outer.begin(), outer.end());
        }
        if (holds_blocks_[f] && !holds_blocks_[caller]) {
          holds_blocks_[caller] = true;
          again = true;
        }
      }
      if (function_blocks_[f].size() == before) continue;
      grew[f] = round;
      again = true;
    }
  }
  running_.resize(around_.size());
  for (size_t s = 0; s < running_.size(); ++s) {
    const auto& calling = function_blocks_[static_cast<size_t>(model_.statements[s].function)];
    running_[s] = around_[s].empty() ? &calling : &around_[s];
    if (around_[s].empty() || calling.empty()) continue;
    around_and_calling_.push_back(around_[s]);
    around_and_calling_.back().insert(calling.begin(), calling.end());
    running_[s] = &around_and_calling_.back();
  }
}

void Flow::find_loops() {
  const auto inside = [](const MainLoop& loop, const Statement& statement) {
    return statement.source == loop.source && loop.begin < statement.begin && statement.begin < loop.end;
  };
  const auto mark = [&](const std::vector<MainLoop>& loops) {
    function_in_loop_.assign(model_.functions.size(), false);
    in_loop_.assign(model_.statements.size(), false);
    for (size_t s = 0; s < in_loop_.size(); ++s) {
      in_loop_[s] = unseen_[s] || std::any_of(loops.begin(), loops.end(), [&](const MainLoop& loop) {
                      return inside(loop, model_.statements[s]);
                    });
    }
    for (bool again = true; again;) {
      again = false;
      for (size_t f = 1; f < function_in_loop_.size(); ++f) {
        if (function_in_loop_[f]) continue;
        const auto& callers = sites_[f];
        function_in_loop_[f] = model_.functions[f].escapes || model_.functions[f].implicit ||
                               std::any_of(callers.begin(), callers.end(), [&](const Site& site) {
                                 const Statement& at = model_.statement(site.statement);
                                 return in_loop_[static_cast<size_t>(site.statement)] ||
                                        function_in_loop_[static_cast<size_t>(at.function)];
                               });
        again = again || function_in_loop_[f];
      }
    }
    for (size_t s = 0; s < in_loop_.size(); ++s)
      in_loop_[s] = in_loop_[s] || function_in_loop_[static_cast<size_t>(model_.statements[s].function)];
  };
  mark(model_.loops);
  for (const MainLoop& loop : model_.loops) {
    const bool nested = std::any_of(model_.loops.begin(), model_.loops.end(), [&](const MainLoop& other) {
      return other.source == loop.source && other.begin < loop.begin && loop.begin < other.end;
    });
    if (!nested && !function_in_loop_[static_cast<size_t>(loop.function)]) loops_.push_back(loop);
  }
  if (loops_.empty()) loops_ = model_.loops;
  mark(loops_);
}

const std::set<int>& Flow::blocks_running(int statement) const {
  return *running_[static_cast<size_t>(statement)];
}

const std::set<int>& Flow::blocks_around(int statement) const {
  return around_[static_cast<size_t>(statement)];
}

bool Flow::declared_in(int block, int index) const {
  const Symbol& symbol = model_.symbol(index);
  if (symbol.function < 0 || symbol.lasting) return false;
  const Block& at = model_.blocks[static_cast<size_t>(block)];
  if (symbol.source == at.source && at.begin <= symbol.token && symbol.token < at.end) return true;
  // A local variable of a function that the block may run: each call has its own.
  return symbol.function != at.function &&
         function_blocks_[static_cast<size_t>(symbol.function)].count(block) != 0 && symbol.parameter < 0;
}

int Flow::head_of(int block) const {
  const Block& at = model_.blocks[static_cast<size_t>(block)];
  int found = -1;
  for (const int s : model_.function(at.function).statements) {
    const Statement& statement = model_.statement(s);
    if (statement.source == at.source && statement.begin < at.begin) found = s;
  }
  return found;
}

const Definition* Flow::change_in(int block, const AccessPath& path) const {
  if (declared_in(block, path.symbol)) return nullptr;
  for (const Definition* one : definitions_of(path)) {
    if (blocks_running(one->statement).count(block) != 0) return one;
  }
  return nullptr;
}

bool Flow::is_main_loop(int head) const {
  const Statement& at = model_.statement(head);
  return std::any_of(loops_.begin(), loops_.end(), [&](const MainLoop& loop) {
    return loop.source == at.source && loop.begin == at.begin;
  });
}

bool Flow::outlives_iteration(int index) const {
  const Symbol& symbol = model_.symbol(index);
  if (symbol.constant || symbol.loop_value) return false;
  if (symbol.function < 0 || symbol.lasting) return true;
  if (function_in_loop_[static_cast<size_t>(symbol.function)]) return false;
  return std::none_of(loops_.begin(), loops_.end(), [&](const MainLoop& loop) {
    return symbol.source == loop.source && loop.begin <= symbol.token && symbol.token < loop.end;
  });
}

// The variable that the statement gives a value of its own, whatever it was before; −1: none.
int Flow::sets_whole(int index) const {
  const Statement& statement = model_.statement(index);
  const Tree& tree = model_.program->sources[static_cast<size_t>(statement.source)].tree;
  for (const Change& change : statement.changes) {
    const Symbol& symbol = model_.symbol(change.path.symbol);
    const bool declared = std::find(statement.declares.begin(), statement.declares.end(),
                                    change.path.symbol) != statement.declares.end();
    const bool assigned = tree.is(statement.begin, symbol.name) && tree.is(statement.begin + 1, "=");
    const bool reads = std::any_of(statement.reads.begin(), statement.reads.end(),
                                   [&](const AccessPath& path) { return path.symbol == change.path.symbol; });
    if (change.path.fields.empty() && !change.deep && !reads && !symbol.lasting &&
        (assigned || (declared && symbol.initialised)))
      return change.path.symbol;
  }
  return -1;
}

// Returns whether every main loop of the variable's function sets it before any other use: its first mention
// in an iteration assigns the whole value, directly in the loop's body. False without such a loop.
bool Flow::is_set_anew(int index) const {
  const Symbol& symbol = model_.symbol(index);
  if (symbol.function < 0 || symbol.reference || symbol.lasting) return false;
  bool found = false;
  for (const MainLoop& loop : loops_) {
    if (loop.function != symbol.function) continue;
    found = true;
    int head = -1;
    int first = -1;
    for (const int s : model_.function(loop.function).statements) {
      const Statement& statement = model_.statement(s);
      if (statement.begin == loop.begin) head = s;
      if (statement.begin <= loop.begin || statement.begin >= loop.end || first >= 0) continue;
      const auto& changes = changes_[static_cast<size_t>(s)];
      const bool changed = std::any_of(changes.begin(), changes.end(),
                                       [&](const Definition& one) { return one.path.symbol == index; });
      const bool read = std::any_of(statement.reads.begin(), statement.reads.end(),
                                    [&](const AccessPath& path) { return path.symbol == index; });
      if (!changed && !read) continue;
      first = s;
      if (sets_whole(s) != index || statement.parent != head) return false;
    }
    if (first < 0) return false;
  }
  return found;
}

bool Flow::is_carried(const AccessPath& path) const {
  if (!outlives_iteration(path.symbol)) return false;
  const auto definitions = definitions_of(path);
  // Iterating a loader starts again. Gradients have their own rules.
  if (model_.symbol(path.symbol).name == "(gradients)") return false;
  const bool changed = std::any_of(definitions.begin(), definitions.end(), [&](const Definition* one) {
    return in_main_loop(one->statement) && one->cause != Cause::kMode;
  });
  return changed && !is_set_anew(path.symbol);
}

}  // namespace flor::probes
