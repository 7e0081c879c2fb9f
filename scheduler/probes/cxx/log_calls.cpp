#include "probes/cxx/log_calls.h"

namespace flor::probes {

bool logs_unqualified(const Tree& tree) {
  for (size_t i = 0; i < tree.tokens.size(); ++i) {
    if (!tree.is(i, "using")) continue;
    size_t at = i + 1;
    const bool whole = tree.is(at, "namespace");
    if (whole) ++at;
    if (tree.is(at, "::")) ++at;
    if (!tree.is(at, "flor")) continue;
    if (whole ? tree.is(at + 1, ";") : (tree.is(at + 1, "::") && tree.is(at + 2, "log"))) return true;
  }
  return false;
}

bool log_call(const Tree& tree, size_t at, bool unqualified, LogCall* call) {
  call->at = at;
  if (tree.is(at, "::")) ++at;
  if (tree.is(at, "flor") && tree.is(at + 1, "::") && tree.is(at + 2, "log") && tree.is(at + 3, "(")) {
    call->open = at + 3;
  } else if (unqualified && at == call->at && tree.is(at, "log") && tree.is(at + 1, "(") &&
             (at == 0 || !(tree.is(at - 1, "::") || tree.is(at - 1, ".") || tree.is(at - 1, "->")))) {
    call->open = at + 1;
  } else {
    return false;
  }
  call->name.clear();
  const size_t behind = call->open + 2;
  if (tree.is(behind, ",") || tree.is(behind, ")")) plain_string(tree.tokens[call->open + 1], &call->name);
  return true;
}

std::vector<LogCall> log_calls(const Tree& tree, size_t begin, size_t end, bool unqualified) {
  std::vector<LogCall> calls;
  for (size_t i = begin; i < end; ++i) {
    LogCall call;
    if (!log_call(tree, i, unqualified, &call)) continue;
    calls.push_back(call);
    i = call.open;
  }
  return calls;
}

}  // namespace flor::probes
