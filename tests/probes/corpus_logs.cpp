// Probes, and statements that help them.
#include "corpus.h"

namespace flor::probes {
namespace {

std::vector<Case> places() {
  const std::string log = R"(flor::log("x", net->fc1->weight.norm());)";
  return {
      edited("NoEdit", {}, nothing()),
      edited("OuterBehindBlock", {insert(kBehindTrain, log)}, nothing({"x@"}, "outside blocks")),
      edited("OuterAtLoopTop", {insert(kLoopTop, log)}, nothing({"x@"})),
      edited("OuterBeforeLoop", {insert(kBeforeLoop, log)}, nothing({"x@"})),
      edited("OuterBehindLoop", {insert(kBehindLoop, log)}, nothing({"x@"})),
      edited("OuterInExistingIf", {insert(kInCondition, log)}, nothing({"x@"})),
      edited("Inner", {insert(kInTrain, log)},
             executes({"train"}, {"x@train"}, "log added inside block train")),
      edited("InnerNested", {insert(kInInner, log)},
             executes({"inner", "train"}, {"x@inner"}, "inside block inner: it executes, and so does train")),
      edited("Several",
             {insert(kBeforeLoop, R"(flor::log("a", 1);)"), insert(kBehindTrain, R"(flor::log("b", 2);)"),
              insert(kInTrain, R"(flor::log("c", 3);)")},
             executes({"train"}, {"a@", "c@train", "b@"})),
      edited("TwiceTheSame", {insert(kInTrain, log + log)}, executes({"train"}, {"x@train", "x@train"})),
      edited("SameAsItsNeighbour",
             {insert("    flor::log(\"accuracy\", evaluate(net, *test_set));\n",
                     R"(flor::log("accuracy", evaluate(net, *test_set));)")},
             nothing({"accuracy@"})),
      edited("CallsARecordedFunction",
             {insert(kBehindTrain, R"(flor::log("t", evaluate(net, *train_set));)")},
             executes({"train"}, {"t@"}, "reads train_set, which block train changes")),
      edited("Volatile", {insert(kBehindTrain, R"(flor::log("s", seconds(), flor::is_volatile);)")},
             nothing({"s@"})),
      edited("Summarised",
             {insert(kBehindTrain, R"(flor::log("w", net->weight, flor::histogram(64), flor::is_volatile);)"),
              insert(kBeforeLoop, R"(flor::log("v", net->weight, flor::summary);)")},
             nothing({"v@", "w@"})),
      edited("Kept",
             {insert(kBehindTrain, R"(flor::log("w", net->weight, flor::whole);)"),
              insert(kInTrain, R"(flor::log("i", batch.data, flor::image);)")},
             executes({"train"}, {"i@train", "w@"})),
      edited("Global", {insert(kBehindTrain, R"(::flor::log("x", 1);)")}, nothing({"x@"})),
      edited("RawStringName", {insert(kBehindTrain, R"(flor::log(R"--(x)--", 1);)")}, nothing({"x@"})),
      edited("NoLiteralName", {insert(kInTrain, "flor::log(name + \"x\", 1);")},
             executes({"train"}, {"@train"})),
      edited("InBareIf", {insert(kBehindTrain, R"(if (epoch == 3) flor::log("x", epoch);)")},
             nothing({"x@"})),
      edited("InBareIfOfBlock", {insert(kInTrain, R"(if (epoch == 3) flor::log("x", epoch);)")},
             executes({"train"}, {"x@train"})),
      edited("InBracedIf",
             {insert(kBehindTrain, R"(if (epoch > 3) { flor::log("x", 1); } else { flor::log("y", 2); })")},
             nothing({"x@", "y@"})),
      edited(
          "InNewLoop",
          {insert(kBehindTrain, R"(for (const auto& p : net->parameters()) { flor::log("n", p.norm()); })")},
          nothing({"n@"})),
  };
}

std::vector<Case> helpers() {
  const std::string sum =
      R"(double norm = 0; for (auto& p : net->parameters()) norm += p.norm().item<double>();
    flor::log("norm", norm);)";
  return {
      edited("Accumulates", {insert(kBehindTrain, sum)}, nothing({"norm@"})),
      edited("AccumulatesInBlock", {insert(kInTrain, sum)}, executes({"train"}, {"norm@train"})),
      edited("AccumulatesIntoRecorded",
             {insert(kBehindTrain, "for (auto& p : net->parameters()) running += p.norm().item<double>();")},
             everything("code changed outside blocks")),
      edited("AccumulatesOverBatches",
             {insert("    if (flor::SkipBlock train{\"train\", net, optimizer}; train.step_into()) {\n",
                     "double sum = 0;"),
              insert(kInTrain, "sum += loss.item<double>(); flor::log(\"sum\", sum);")},
             executes({"train"}, {"sum@train"})),
      edited("AccumulatesOverBatchesFromOutside",
             {insert(kLoopTop, "double sum = 0;"), insert(kInTrain, "sum += loss.item<double>();"),
              insert(kBehindTrain, "flor::log(\"sum\", sum);")},
             executes({"train"}, {"sum@"}, "reads sum")),
      edited("AccumulatesOverEpochs",
             {insert(kBeforeLoop, "double best = 0;"),
              insert(kBehindTrain,
                     "best = std::max(best, evaluate(net, *test_set)); flor::log(\"best\", best);")},
             nothing({"best@"}, "replay runs from the start")),
      edited("NewVariable",
             {insert(kBehindTrain, R"(const auto w = net->fc1->weight; flor::log("w", w.norm());)")},
             nothing({"w@"})),
      edited("NewNameHidesAnother", {insert(kLoopTop, "const double seen = 3;")},
             everything("outside blocks")),
      edited("NewVariableInsideBlock", {insert(kInTrain, "const double fresh = 3;")}, nothing()),
      edited("NewTensorHandleIsNotOwned",
             {insert(kBehindTrain, "auto w = net->fc1->weight; w += 1; flor::log(\"w\", w.norm());")},
             everything("code changed outside blocks", {"w@"})),
      edited("NewNameIsAnothersMember", {insert(kBehindTrain, "double sum = 0; flor::log(\"sum\", sum);")},
             nothing({"sum@"})),
      edited("NewGuard", {insert(kLoopTop, "torch::NoGradGuard no_grad;")}, everything("outside blocks")),
      edited("NewGuardInBraces",
             {insert(kLoopTop, R"({ torch::NoGradGuard no_grad; flor::log("x", net->forward(probe)); })")},
             nothing({"x@"})),
      edited("NewGuardAsAuto", {insert(kLoopTop, "auto no_grad = torch::NoGradGuard();")},
             everything("outside blocks")),
  };
}

std::vector<Case> new_functions() {
  return {
      edited("NewFunction",
             {insert("constexpr int64_t kBatch = 1'000;\n",
                     "double width(const Net& n) { double w = 0; for (auto& p : n->parameters()) "
                     "{ if (p.dim() > 1) w += p.size(0); } return w; }"),
              insert(kBehindTrain, R"(flor::log("width", width(net));)")},
             everything("function width added or changed", {"width@"})),  // model.h has a `width`
      edited("NewFunctionOfNewName",
             {insert("constexpr int64_t kBatch = 1'000;\n",
                     "double breadth(const Net& n) { double w = 0; for (auto& p : n->parameters()) "
                     "{ if (p.dim() > 1) w += p.size(0); } return w; }"),
              insert(kBehindTrain, R"(flor::log("breadth", breadth(net));)")},
             nothing({"breadth@"})),
      edited("NewFunctionUnused",
             {insert("constexpr int64_t kBatch = 1'000;\n", "int unused() { return 3; }")}, nothing()),
      edited(
          "NewFunctionChangesState",
          {insert("constexpr int64_t kBatch = 1'000;\n", "void spoil(Net& n) { n->fc1->weight.fill_(0); }")},
          nothing()),
      edited("NewFunctionLogs",
             {insert("constexpr int64_t kBatch = 1'000;\n", R"(void report() { flor::log("x", 1); })")},
             nothing({"x@"})),
      edited("NewInclude", {insert("#include <flor/flor.h>\n", "#include <cmath>")}, nothing()),
      edited("NewQuotedInclude", {insert("#include <flor/flor.h>\n", "#include \"extra.h\"")}, nothing()),
  };
}

std::vector<Case> doubtful() {
  return {
      edited("SideEffectIncrement", {insert(kBehindTrain, R"(flor::log("x", ++seen);)")},
             everything("which may change seen", {"x@"})),
      edited("SideEffectAssignment", {insert(kBehindTrain, R"(flor::log("x", seen = 3);)")},
             everything("which may change seen", {"x@"})),
      edited("SideEffectInPlace", {insert(kInTrain, R"(flor::log("x", loss.mul_(2));)")},
             everything("which may change loss", {"x@train"})),
      edited("SideEffectStep", {insert(kInTrain, R"(flor::log("x", optimizer.step());)")},
             everything("which may change optimizer", {"x@train"})),
      edited("SideEffectThroughFunction", {insert(kBehindTrain, R"(flor::log("x", fit(net, optimizer));)")},
             everything("which may change optimizer", {"x@"})),
      edited("SideEffectLambda", {insert(kBehindTrain, R"(flor::log("x", [&] { return 1; }());)")},
             nothing({"x@"})),
      edited("InFunction", {insert("  net->eval();\n", R"(flor::log("x", 1);)")},
             nothing({"x@"}, "train.cpp:14: log added outside blocks")),
      edited("InLambda", {insert(kBehindTrain, R"(auto f = [&] { flor::log("x", 1); };)")}, nothing({"x@"})),
      edited("InHook",
             {insert(kBeforeLoop, R"(net->fc1->weight.register_hook([](auto g) { flor::log("g", g); });)")},
             everything("in a function that runs in block train", {"g@"})),
      edited("InMacroDefinition", {{"check(x, #x)", "flor::log(#x, x)"}}, everything("preprocessor")),
      edited("ThroughNewMacro",
             {insert("#include <flor/flor.h>\n", "#define PROBE(x) flor::log(#x, x)"),
              insert(kBehindTrain, "PROBE(seen);")},
             everything("preprocessor")),
      edited("ThroughRecordedMacro", {insert(kBehindTrain, "CHECKED(seen);")}, everything("outside blocks")),
      edited("BehindElse",
             {{"      save(net, epoch);\n    }",
               "      save(net, epoch);\n    } else { flor::log(\"x\", 1); }"}},
             everything("if with an else", {"x@"})),
      edited("CommentedOut", {insert(kInTrain, "// flor::log(\"x\", 1);\n/* flor::log(\"y\", 2); */")},
             nothing()),
      edited("InAString", {insert(kBeforeLoop, "const std::string text = \"flor::log(1); SkipBlock {\";")},
             nothing()),
      edited("MovedIntoBlock",
             {{"    flor::log(\"accuracy\", evaluate(net, *test_set));\n", ""},
              insert(kInTrain, R"(flor::log("accuracy", evaluate(net, *test_set));)")},
             executes({"train"}, {"accuracy@train"})),
      edited("ArgumentChanged", {{"flor::log(\"loss\", loss.item<double>())", "flor::log(\"loss\", loss)"}},
             executes({"train"}, {"loss@train"})),
  };
}

std::vector<Case> what_blocks_leave() {
  return {
      edited("GradientBehindBlock",
             {insert(kBehindTrain, R"(flor::log("g", net->fc1->weight.grad().norm());)")},
             executes({"inner", "train"}, {"g@"}, "reads gradients, which block train leaves")),
      edited("GradientBehindLoop",
             {insert(kBehindLoop, R"(flor::log("g", net->fc1->weight.grad().norm());)")},
             executes({"inner", "train"}, {"g@"})),
      edited("GradientMadeMutable",
             {insert(kInCondition,
                     R"(for (auto& p : net->parameters()) flor::log("g", p.mutable_grad().norm());)")},
             executes({"inner", "train"}, {"g@"})),
      edited("GradientOfAnIteration", {insert(kInCondition, R"(flor::log("g", net->fc1->weight.grad());)")},
             executes({"inner", "train"}, {"g@"})),
      edited("GradientBeforeBlock", {insert(kLoopTop, R"(flor::log("g", net->fc1->weight.grad().norm());)")},
             everything("which block leaves them is not clear", {"g@"})),
      edited(
          "GradientThroughFunction",
          {insert("constexpr int64_t kBatch = 1'000;\n",
                  "double grad_norm(const Net& n) { return n->fc1->weight.grad().norm().item<double>(); }"),
           insert(kBehindTrain, R"(flor::log("g", grad_norm(net));)")},
          executes({"inner", "train"}, {"g@"})),
      edited("StaleVariable", {insert(kBehindTrain, R"(flor::log("seen", seen);)")},
             executes({"train"}, {"seen@"},
                      "reads seen, which block train changes (train.cpp:51) and does not hold")),
      edited("StaleThroughOuterBlock", {insert(kBehindTrain, R"(flor::log("running", running);)")},
             executes({"train"}, {"running@"}, "reads running")),
      edited("RemovedLog", {{"    flor::log(\"accuracy\", evaluate(net, *test_set));\n", ""}},
             nothing({}, "log \"accuracy\" was removed here: its rows will be missing")),
      edited("RemovedLogInBlock", {{"        flor::log(\"loss\", loss.item<double>());\n", ""}},
             nothing({}, "log \"loss\" was removed")),
  };
}

}  // namespace

std::vector<Case> log_cases() {
  std::vector<Case> cases;
  for (const auto& part : {places(), helpers(), new_functions(), doubtful(), what_blocks_leave()}) {
    cases.insert(cases.end(), part.begin(), part.end());
  }
  return cases;
}

}  // namespace flor::probes
