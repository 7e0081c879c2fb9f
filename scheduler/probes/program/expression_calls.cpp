// Calls in expressions: of the program's own functions, of LibTorch's and the standard library's, of objects.
#include <algorithm>

#include "probes/program/expressions.h"

namespace flor::probes {
namespace {

bool is_library_type(const std::string& type) {
  for (const char* begin : {"torch::", "at::", "std::", "c10::", "nn::"}) {
    if (begins_with(type, begin)) return true;
  }
  return type == "Tensor" || is_plain_type(type);
}

}  // namespace

Value together(const std::vector<Value>& arguments) {
  Value out;
  for (const Value& one : arguments) out.roots.insert(out.roots.end(), one.roots.begin(), one.roots.end());
  out.deep = true;
  return out;
}

// Returns the class of an object that is a variable, or a member of one. "": unknown.
std::string Expressions::type_of(const Value& object) {
  if (object.roots.size() != 1 || object.cut || object.lambda >= 0) return "";
  const AccessPath& path = object.roots[0];
  const int symbol = path.fields.empty() ? path.symbol : scopes_.nonlocal(model_.text(path.fields.back()));
  return last_part(model_.symbol(symbol).type);
}

void Expressions::add_call(int name, int lambda, const Value* receiver, const std::vector<Value>& arguments) {
  Call call;
  if (receiver != nullptr && name >= 0) {
    const std::string type = type_of(*receiver);
    if (!words_.family(type).empty()) call.type = model_.name(type);
  }
  call.name = name;
  call.lambda = lambda;
  call.method = receiver != nullptr;
  if (receiver != nullptr && !receiver->roots.empty()) call.receiver = receiver->roots[0];
  for (const Value& one : arguments) {
    Argument argument;
    argument.roots = one.roots;
    argument.reads = one.reads;
    argument.is_variable = one.variable && one.roots.size() == 1;
    call.arguments.push_back(std::move(argument));
  }
  into_->calls.push_back(std::move(call));
}

// The value of the call that was noted last: a variable that shares what the function's result shares.
Value Expressions::result_of_last_call() {
  Symbol symbol;
  symbol.name = "(result)";
  symbol.function = into_->function;
  symbol.source = into_->source;
  symbol.token = into_->begin;
  Value out;
  out.roots = {{static_cast<int>(model_.symbols.size()), {}}};
  out.deep = true;
  out.points = true;  // perhaps
  out.chain = false;
  model_.symbols.push_back(std::move(symbol));
  model_.results.push_back({out.roots[0].symbol, into_->calls.back()});
  return out;
}

void Expressions::hand_out(const std::vector<Value>& values) {
  for (const Value& one : values) {
    if (one.lambda >= 0) model_.functions[static_cast<size_t>(one.lambda)].escapes = true;
  }
}

// An algorithm runs its function arguments on what the other arguments refer to.
void Expressions::run_here(const std::vector<Value>& arguments) {
  const Value all = together(arguments);
  for (const Value& one : arguments) {
    if (one.lambda < 0) continue;
    add_call(-1, one.lambda, nullptr, {});
    for (const int parameter : model_.function(one.lambda).parameters) share(parameter, all);
  }
}

void Expressions::unknown(const std::vector<Value>& arguments) {
  into_->unknown = true;
  hand_out(arguments);
  const Value all = together(arguments);
  for (const Value& one : arguments) {
    Value changed = one;
    changed.deep = true;
    change(changed, Cause::kGuess);
    for (const AccessPath& root : one.roots) share(root.symbol, all);
  }
}

Value Expressions::call(const std::string& qualified, size_t open) {
  const std::string name = last_part(qualified);
  const bool braces = is(open, "{");
  if (name == "SkipBlock") return {};
  const std::vector<Value> given = arguments(open);
  const bool log = qualified == "flor::log" || (qualified == "log" && unqualified_log_);
  if (log) {
    into_->logs = true;
    return {};
  }
  if (is_volatile_name(qualified) && words_.functions.count(name) == 0) into_->volatile_name = qualified;
  if (is_plain_type(words_.resolved(qualified)) && words_.classes.count(name) == 0) {
    Value out;
    out.options = ends_with(name, "Options");
    return out;
  }
  const int local = qualified == name ? scopes_.find_local(name) : -1;
  if (local >= 0) {
    Value object = variable(name);
    if (object.lambda < 0) {
      if (words_.classes.count(last_part(model_.symbol(local).type)) == 0) note(object);
      return callable(object, given);
    }
    add_call(-1, object.lambda, nullptr, given);
    return result_of_last_call();
  }
  if (begins_with(name, "register_") && name != "register_hook") {
    for (const Value& one : given) {
      share(scopes_.nonlocal("(registered)"), one);
      for (const AccessPath& root : one.roots)
        model_.registered.insert(root.fields.empty() ? model_.name(model_.symbol(root.symbol).name)
                                                     : root.fields.back());
    }
  }
  const bool library = is_library_type(qualified) || begins_with(qualified, "flor::");
  if (!library && (words_.functions.count(name) != 0 || words_.classes.count(name) != 0)) {
    add_call(model_.name(name), -1, nullptr, given);
    hand_out(given);
    if (words_.plain_functions.count(name) != 0) return {};
    if (words_.classes.count(name) == 0) return result_of_last_call();
    if (words_.functions.count("~" + name) != 0) make_object(name, given);
    Value out = together(given);
    out.chain = false;
    return out;
  }
  if (!library && function_of(qualified) == Library::kUnknown) {
    const Symbol& symbol = model_.symbol(scopes_.nonlocal(name));
    const bool is_object = !symbol.type.empty() || model_.registered.count(model_.name(name)) != 0;
    if (is_object && qualified == name && !braces) {
      Value object = variable(name);
      note(object);
      return callable(object, given);
    }
  }
  // A method of a base class of LibTorch's: `is_training()`.
  const Method known =
      qualified == name && function_of(name) == Library::kUnknown ? method_of(name) : Method::kUnknown;
  if (known == Method::kFresh || known == Method::kView) return {};
  return library_call(qualified, given);
}

Value Expressions::library_call(const std::string& qualified, const std::vector<Value>& arguments) {
  if (is_volatile_name(qualified)) into_->volatile_name = qualified;
  if (qualified ==
      "torch::save") {  // what it changes is a file, which nothing of the program is taken to read
    Value files;
    files.roots = {{scopes_.nonlocal("(files)"), {}}};
    change(files);
    return {};
  }
  Value out = together(arguments);
  switch (function_of(qualified)) {
    case Library::kFresh:
      run_here(arguments);
      if (!returns_argument(qualified)) return {};
      out.cut = true;
      out.chain = false;
      return out;
    case Library::kView:
      hand_out(arguments);
      out.points = is_pointer_name(last_part(qualified));
      out.chain = !begins_with(qualified, "torch::optim") && qualified.find("data::") == std::string::npos &&
                  qualified.find("make_") == std::string::npos;
      return out;
    case Library::kFirst: {
      if (arguments.empty()) return {};
      Value first = arguments[0];
      first.deep = true;
      change(first);
      first.chain = false;
      return first;
    }
    case Library::kFills:
      for (const Value& one : arguments) {
        Value changed = one;
        changed.deep = true;
        change(changed);
      }
      return {};
    case Library::kAlgorithm:
      run_here(arguments);
      for (const Value& one : arguments) {
        Value changed = one;
        changed.deep = true;
        if (one.lambda < 0) change(changed);
      }
      for (const Value& one : arguments) {
        for (const AccessPath& root : one.roots) share(root.symbol, out);
      }
      out.chain = false;
      return out;
    case Library::kUnknown:
      break;
  }
  unknown(arguments);
  // What it changes out of sight belongs to its name, or to its namespace. The standard library's and
  // LibTorch's own state is the environment, and generators, which every checkpoint holds.
  if (is_library_object(qualified)) {
    Value environment;
    environment.roots = {{scopes_.nonlocal("(environment)"), {}}};
    change(environment);
    out.chain = false;
    return out;
  }
  Value hidden;
  const size_t scope = qualified.find("::");
  hidden.roots = {
      {scopes_.nonlocal(scope == std::string::npos ? qualified : qualified.substr(0, scope) + "::"), {}}};
  hidden.variable = true;
  note(hidden);
  change(hidden, Cause::kGuess);
  out.chain = false;
  return out;
}

Value Expressions::method(Value object, const std::string& name, size_t open) {
  const std::vector<Value> given = arguments(open);
  if (object.options) return object;
  // Parameters, buffers and the mode of a module are told apart.
  const std::string part = name == "parameters" || name == "named_parameters" ? "(parameters)"
                           : name == "buffers" || name == "named_buffers"     ? "(buffers)"
                           : name == "is_training"                            ? "(mode)"
                                                                              : "";
  if (!part.empty() && words_.functions.count(name) == 0 && !object.cut) {
    for (AccessPath& root : object.roots) root.fields.push_back(model_.name(part));
    object.variable = object.cut = false;
    object.deep = true;
  }
  if (name == "options" && given.empty()) {
    for (AccessPath& root : object.roots) root.fields.push_back(model_.name("(options)"));
  }
  const bool known_root = object.roots.size() == 1 && object.roots[0].fields.empty() && !object.cut;
  const std::string type = known_root ? model_.symbol(object.roots[0].symbol).type : "";
  const bool own = words_.functions.count(name) != 0 && words_.may_have(type_of(object), name);
  const bool own_type = words_.classes.count(last_part(type)) != 0;
  if (own && !(known_root && is_library_type(type))) {
    // `this->method()`
    const bool self = known_root && model_.symbol(object.roots[0].symbol).name == "this";
    const Value none;
    add_call(model_.name(name), -1, self ? &none : &object, given);
    hand_out(given);
    // What a method of the program reads of its object, its body says.
    if (own_type || method_of(name) == Method::kUnknown) {
      if (words_.plain_functions.count(name) != 0) return {};
      return result_of_last_call();
    }
  }
  note(object);
  return library_method(object, name, given);
}

Value Expressions::library_method(const Value& object, const std::string& name,
                                  const std::vector<Value>& arguments) {
  Value changed = object;
  changed.deep = true;
  if (name == "backward" || name == "zero_grad") {
    // Gradients have rules of their own (gradients.h); here they are one variable.
    Value gradients;
    gradients.roots = {{scopes_.nonlocal("(gradients)"), {}}};
    change(gradients);
    return {};
  }
  const std::string type = object.roots.size() == 1 && object.roots[0].fields.empty()
                               ? model_.symbol(object.roots[0].symbol).type
                               : "";
  const bool schedules = type.size() > 2 && (type.compare(type.size() - 2, 2, "LR") == 0 ||
                                             type.find("Scheduler") != std::string::npos);
  if (name == "step" && schedules && words_.classes.count(last_part(type)) == 0) {
    // It counts, and sets options of its optimizer: no parameter.
    change(object);
    for (const auto& [from, to] : std::vector<std::pair<int, int>>(model_.shared)) {
      if (from == object.roots[0].symbol) into_->changes.push_back({{to, {}}, false, Cause::kCertain});
    }
    return {};
  }
  if (name == "step") return optimizer_step(changed, arguments);
  const bool of_options = object.roots.size() == 1 && !object.roots[0].fields.empty() &&
                          model_.text(object.roots[0].fields.back()) == "options";
  if (of_options && arguments.empty()) return {};
  Value out = object;
  out.variable = out.points = false;
  out.deep = true;
  out.cut = true;
  out.lambda = -1;
  switch (method_of(name)) {
    case Method::kFresh:
      run_here(arguments);
      return {};
    case Method::kView:
      out.points = is_pointer_name(name);
      return out;
    case Method::kModule:
      if (words_.has_buffers) change_part(changed, "(buffers)", Cause::kMode);
      if (words_.in_place_modules) unknown(arguments);
      return {};
    case Method::kStores:
      hand_out(arguments);
      [[fallthrough]];
    case Method::kChanges:
      if (name == "train" || name == "eval") {
        change_part(changed, "(mode)", Cause::kSwitch);
      } else {
        change(changed);
      }
      run_here(arguments);
      for (const AccessPath& root : object.roots) {
        if (method_of(name) == Method::kStores) share(root.symbol, together(arguments));
      }
      out.chain = false;
      return out;
    case Method::kUnknown:
      break;
  }
  change(changed, Cause::kGuess);
  unknown(arguments);
  const Value all = together(arguments);
  for (const AccessPath& root : object.roots) share(root.symbol, all);
  out.chain = false;
  out.roots.insert(out.roots.end(), all.roots.begin(), all.roots.end());
  return out;
}

}  // namespace flor::probes
