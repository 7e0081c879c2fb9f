// Values of calls: which variables they are other names of.
#include <algorithm>

#include "probes/flow/flow.h"

namespace flor::probes {

// The value of a call shares storage with what the function returns: parameters, its object, or a global.
// What is only copied is not among its results.
bool Flow::join_result(const Result& result, int callee) {
  const Call& call = result.call;
  const Function& function = model_.function(callee);
  bool joined = false;
  for (const AccessPath& path : function.results) {
    std::vector<int> all = led_to(path.symbol);
    all.push_back(path.symbol);
    for (size_t p = 0; p < function.parameters.size() && p < call.arguments.size(); ++p) {
      const int parameter = function.parameters[p];
      if (model_.symbol(parameter).plain || std::find(all.begin(), all.end(), parameter) == all.end())
        continue;
      for (const AccessPath& argument : call.arguments[p].roots)
        joined = join(result.symbol, argument.symbol) || joined;
    }
    // Of the function's own variables only those that outlive the call.
    for (const int symbol : all) {
      const Symbol& one = model_.symbol(symbol);
      if (one.function == callee && !one.lasting) continue;
      const bool of_object = is_of_receiver(call, callee, {symbol, {}});
      joined = join(result.symbol, of_object ? call.receiver.symbol : symbol) || joined;
    }
  }
  return joined;
}

void Flow::join_results() {
  for (bool again = true; again;) {
    again = false;
    forget();
    for (const Result& result : model_.results) {
      for (const int callee : callees_of(result.call)) again = join_result(result, callee) || again;
    }
  }
}

// Calls that yield one certain part of their object.
void Flow::find_result_paths() {
  for (const Result& result : model_.results) {
    if (callees_of(result.call).size() != 1) continue;
    const int callee = callees_of(result.call)[0];
    const Function& function = model_.function(callee);
    if (function.results.size() != 1 || !is_of_receiver(result.call, callee, function.results[0])) continue;
    result_paths_[result.symbol] = as_called(result.call, callee, function.results[0]);
  }
}

const AccessPath* Flow::result_path(int symbol) const {
  const auto at = result_paths_.find(symbol);
  return at == result_paths_.end() ? nullptr : &at->second;
}

// Replaces the value of a call by the part of an object that it is, where that is known.
AccessPath Flow::resolved(const AccessPath& path) const {
  const AccessPath* exact = result_path(path.symbol);
  return exact == nullptr ? path : within(*exact, path.fields);
}

}  // namespace flor::probes
