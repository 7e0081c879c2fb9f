// Objects that are passed to functions of the program by reference. A call reads only what the function reads
// of its parameter.
#include <algorithm>

#include "probes/cxx/library.h"
#include "probes/flow/flow.h"

namespace flor::probes {
namespace {

bool same(const AccessPath& a, const AccessPath& b) {
  return a.symbol == b.symbol && a.fields == b.fields;
}

}  // namespace

// Returns whether the text of the function shows all that it reads of its parameters. Not if it passes out a
// lambda, which may read them later, nor if it is a constructor, whose object may keep them.
bool Flow::tells_reads(int function) const {
  const Function& one = model_.function(function);
  return (one.owner < 0 || one.owner != one.name) &&
         std::none_of(model_.functions.begin(), model_.functions.end(),
                      [&](const Function& inner) { return inner.outer == function && inner.escapes; });
}

bool Flow::is_parameter(const Call& call, size_t position, int callee) const {
  const Argument& argument = call.arguments[position];
  if (!argument.is_variable || argument.roots.size() != 1) return false;
  const Function& function = model_.function(callee);
  const Symbol& given = model_.symbol(argument.roots[0].symbol);
  if (!argument.roots[0].fields.empty() || given.function < 0 || given.plain || given.lambda >= 0 ||
      position >= function.parameters.size())
    return false;
  // A parameter of another type is built from the argument, and may use all of it.
  const Symbol& parameter = model_.symbol(function.parameters[position]);
  const bool known = !given.type.empty() && given.type != "auto" && given.type != "several";
  return parameter.reference && known && last_part(parameter.type) == last_part(given.type);
}

bool Flow::hands_on(const Call& call, size_t position) const {
  return !call.callees.empty() && std::all_of(call.callees.begin(), call.callees.end(), [&](int callee) {
    return is_parameter(call, position, callee) && tells_reads(callee);
  });
}

// Computes what each statement reads, without objects that it only passes on.
void Flow::find_own_reads() {
  own_reads_.resize(model_.statements.size());
  for (size_t s = 0; s < own_reads_.size(); ++s) {
    const Statement& statement = model_.statements[s];
    std::vector<AccessPath>& reads = own_reads_[s];
    reads = statement.reads;
    for (const Call& call : statement.calls) {
      for (size_t position = 0; position < call.arguments.size(); ++position) {
        if (!hands_on(call, position)) continue;
        const Argument& argument = call.arguments[position];
        for (const AccessPath& path : argument.reads) {
          const auto at = std::find_if(reads.begin(), reads.end(), [&](const AccessPath& one) {
            return same(one, path) && same(one, argument.roots[0]);
          });
          if (at != reads.end()) reads.erase(at);
        }
      }
    }
  }
}

// Translates a path of the callee into one of the caller, if it is part of a parameter. Nothing otherwise.
std::vector<AccessPath> Flow::as_handed(const Call& call, int callee, const AccessPath& path) const {
  const Symbol& symbol = model_.symbol(path.symbol);
  if (symbol.function != callee || symbol.parameter < 0) return {};
  const auto position = static_cast<size_t>(symbol.parameter);
  if (position >= call.arguments.size()) return {};
  std::vector<AccessPath> out = call.arguments[position].roots;
  for (AccessPath& root : out) root.fields.insert(root.fields.end(), path.fields.begin(), path.fields.end());
  return out;
}

}  // namespace flor::probes
