// Edits that are no probes.
#include "corpus.h"

namespace flor::probes {
namespace {

std::string with_crlf(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? "\r\n" : std::string(1, c);
  return out;
}

// All white space between tokens on lines of their own, as far as preprocessor lines allow.
std::string reformatted() {
  return edit(train_cpp(),
              {{"  torch::NoGradGuard guard;\n  net->eval();\n", "torch::NoGradGuard guard;net->eval();"},
               {"int main(int argc, char** argv) {", "int main(int argc,\n    char **argv)\n{"},
               {"seen += kBatch;", "seen\n+=\n/* one */ kBatch // batch\n;"},
               {"#define CHECKED(x) check(x, #x)", "#  define   CHECKED(x) \\\n  check(x, /* name */ #x)"}});
}

std::vector<Case> no_change() {
  Case crlf = edited("LineEnds", {}, nothing());
  for (SourceFile& file : crlf.present) file.text = with_crlf(file.text);
  Case bom = edited("ByteOrderMark", {}, nothing());
  bom.present[0].text = "\xEF\xBB\xBF" + bom.present[0].text;
  Case crlf_probe = edited("LineEndsAndProbe", {insert(kInTrain, "flor::log(\"x\", 1);")},
                           executes({"train"}, {"x@train"}));
  for (SourceFile& file : crlf_probe.present) file.text = with_crlf(file.text);
  return {
      crlf,
      bom,
      crlf_probe,
      edited("CommentsOnly",
             {insert(kInTrain, "// } a brace, a \" quote \\\n } and a line that goes on"),
              {"// Trains a small network.", "/* Trains { a\n small */ // network"}},
             nothing()),
      program("Reformatted", train_cpp(), reformatted(), nothing()),
      edited("EmptyStatements", {insert(kInTrain, ";;")}, nothing()),
      edited("ParenthesesAreAChange", {{"seen += kBatch", "seen += (kBatch)"}},
             everything("inside block train")),
  };
}

std::vector<Case> in_blocks() {
  return {
      edited("LiteralInBlock", {{"running * 0.9", "running * 0.8"}},
             everything("code changed inside block inner")),
      edited("StatementAddedInBlock", {insert(kInTrain, "optimizer.zero_grad(true);")},
             everything("code changed inside block train")),
      edited("StatementRemovedInBlock", {{"        optimizer.step();\n", ""}},
             everything("code changed inside block train")),
      edited("StatementsSwapped",
             {{"        loss.backward();\n        optimizer.step();\n",
               "        optimizer.step();\n        loss.backward();\n"}},
             everything("code changed inside block train")),
      edited("StatementRepeated", {insert(kInTrain, "        optimizer.step();")},
             everything("code changed inside block train")),
      edited("LoopHeadInBlock", {{"batch : *train_set)", "batch : *test_set)"}},
             everything("code changed inside block train")),
      edited("BracesAround", {{"        optimizer.step();\n", "        { optimizer.step(); }\n"}},
             everything("code changed inside block train")),
      edited("EarlyExit", {insert(kInTrain, "if (seen > 3) break;")},
             everything("code changed inside block train")),
      edited("BlockArguments", {{"{\"train\", net, optimizer}", "{\"train\", net}"}},
             everything("code changed")),
      edited("BlockRenamed", {{"{\"train\", net", "{\"training\", net"}},
             executes({"train"}, {}, "block train is now called training")),
      edited("BlockRenamedAndProbed",
             {{"{\"train\", net", "{\"training\", net"}, insert(kInTrain, "flor::log(\"x\", 1);")},
             executes({"train"}, {"x@training"})),
      edited("BlockRenamedToAnother", {{"{\"train\", net", "{\"inner\", net"}}, everything("a name in use")),
      edited("BlockMoved",
             {{"        if (flor::SkipBlock inner{\"inner\", running}; inner.step_into()) {\n"
               "          running = running * 0.9 + 0.1 * loss.item<double>();\n        }\n",
               ""},
              insert("        auto loss = torch::nll_loss(net->forward(batch.data), batch.target);\n",
                     "if (flor::SkipBlock inner{\"inner\", running}; inner.step_into()) {\n"
                     "running = running * 0.9 + 0.1 * loss.item<double>(); }")},
             everything("code changed inside block inner")),
      edited("BlockTakenOff",
             {{"if (flor::SkipBlock inner{\"inner\", running}; inner.step_into()) {", "if (true) {"}},
             everything("code changed inside block")),
  };
}

std::vector<Case> outside_blocks() {
  return {
      edited("LearningRate", {{"SGDOptions(0.1)", "SGDOptions(0.01)"}},
             everything("code changed outside blocks")),
      edited("OuterStatement", {{"    scheduler.step();\n", ""}}, everything("code changed outside blocks")),
      edited("OuterStatementAdded", {insert(kLoopTop, "torch::manual_seed(epoch);")},
             everything("outside blocks")),
      edited("Constant", {{"1'000", "1'00'0"}}, everything("outside of functions")),
      edited("LoopName", {{"flor::loop(\"epoch\"", "flor::loop(\"round\""}},
             everything("code changed outside blocks")),
      edited("FunctionBody", {{"return 0.5;", "return 0.25;"}}, everything("code changed outside blocks")),
      edited("FunctionSignature", {{"double fit(Net& net,", "double fit(const Net& net,"}},
             everything("function fit added or changed")),
      edited("FunctionRemoved",
             {{"double fit(Net& net, torch::optim::SGD& sgd) {\n  sgd.step();\n  return 0.5;\n}\n", ""}},
             nothing()),
      edited("Define", {{"check(x, #x)", "check(x, nullptr)"}}, everything("preprocessor")),
      edited("IncludeRemoved", {{"#include <torch/torch.h>\n\n#include \"model.h\"", "#include \"model.h\""}},
             everything("preprocessor")),
      edited("ConditionAround",
             {{"    scheduler.step();\n", "#ifdef SCHEDULE\n    scheduler.step();\n#endif\n"}},
             everything("preprocessor")),
      edited("ConditionAroundProbe", {insert(kBehindTrain, "#if 1\nflor::log(\"x\", 1);\n#endif")},
             everything("preprocessor", {"x@"})),
      edited("IfStolenFromElse",
             {{"    if (epoch % 5 == 4) {\n      save(net, epoch);\n    }\n",
               "    if (epoch % 5 == 4) {\n      save(net, epoch);\n    } else if (epoch > 3) { "
               "flor::log(\"x\", 1); }\n"}},
             everything("if with an else", {"x@"})),
      edited("UsingFlor", {insert("#include <flor/flor.h>\n", "using namespace flor;")},
             everything("outside of functions")),
      edited("TooManyChanges",
             {{"  return correct;\n", "  return correct;\n" +
                                          [] {
                                            std::string code;
                                            for (int i = 0; i < 3000; ++i)
                                              code += "f(" + std::to_string(i) + ");\n";
                                            return code;
                                          }()}},
             everything("… and more")),
  };
}

}  // namespace

std::vector<Case> edit_cases() {
  std::vector<Case> cases;
  for (const auto& part : {no_change(), in_blocks(), outside_blocks()}) {
    cases.insert(cases.end(), part.begin(), part.end());
  }
  return cases;
}

}  // namespace flor::probes
