// Ways to write a block, and texts that are hard to read.
#include "corpus.h"

namespace flor::probes {
namespace {

std::string in_main(const std::string& body) {
  return "#include <flor/flor.h>\nint main() {\n  for (int64_t epoch : flor::loop(\"epoch\", 9)) {\n" + body +
         "\n  }\n  return 0;\n}\n";
}

// Probes a program at @IN and @OUT. Both marks are gone from the recorded program.
Case probed(const std::string& name, const std::string& text, const std::string& mark, Expected expected) {
  std::string recorded = text, present = text;
  for (const std::string at : {"@IN", "@OUT"}) {
    recorded = edit(recorded, {{at, ""}});
    present = edit(present, {{at, at == mark ? "flor::log(\"x\", epoch);" : ""}});
  }
  return program(name, recorded, present, std::move(expected));
}

std::vector<Case> both(const std::string& name, const std::string& text) {
  return {probed(name + "Inner", text, "@IN", executes({"b"}, {"x@b"})),
          probed(name + "Outer", text, "@OUT", nothing({"x@"}))};
}

std::vector<Case> forms() {
  const std::vector<std::pair<std::string, std::string>> kForms = {
      {"Plain", in_main("if (flor::SkipBlock b{\"b\", net}; b.step_into()) { f(); @IN } @OUT")},
      {"Parentheses", in_main("if (flor::SkipBlock b(\"b\", net); b.step_into()) { f(); @IN } @OUT")},
      {"TwoStatements", in_main("{ flor::SkipBlock b{\"b\", net}; if (b.step_into()) { f(); @IN } } @OUT")},
      {"TwoStatementsParentheses",
       in_main("@OUT flor::SkipBlock b(\"b\", net, h); prepare(); if (b.step_into()) { f(); @IN }")},
      {"TwoStatementsAtTheEnd", in_main("flor::SkipBlock b{\"b\"}; if (b.step_into()) { f(); @IN } @OUT")},
      {"UsingName",
       "using flor::SkipBlock;\n" + in_main("if (SkipBlock b{\"b\"}; b.step_into()) { f(); @IN } @OUT")},
      {"UsingNamespace",
       "using namespace flor;\n" + in_main("if (SkipBlock b{\"b\"}; b.step_into()) { f(); @IN } @OUT")},
      {"BareIfWithLoop",
       in_main(
           "if (flor::SkipBlock b{\"b\"}; b.step_into())\n for (int i = 0; i < 3; ++i) { f(); @IN } @OUT")},
      {"Digraphs", in_main("if (flor::SkipBlock b<%\"b\"%>; b.step_into()) <% f(); @IN %> @OUT")},
      {"Switch",
       in_main("switch (epoch) { case 1: { if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(); @IN } } "
               "default: g(); } @OUT")},
      {"TryFunction", "int g() try { return 1; } catch (...) { return 2; }\n" +
                          in_main("if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(); @IN } @OUT")},
      {"Conditional", in_main("#ifdef FAST\nf({1, 2});\n#else\ng('{', '\"', \"}\");\n#endif\n"
                              "if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(); @IN } @OUT")},
      {"Literals",
       in_main(
           "auto t = R\"x(}} flor::log( \" )\" )x\"; auto c = u8'}'; auto n = 1'000'000; char q = '\\'';\n"
           "if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(\"} SkipBlock \\\" {\"); @IN } @OUT")},
      {"Initializers",
       in_main("std::vector<int> v{1, 2}; auto f = [&](int x) -> int { return x; }; S s = {f({1})};\n"
               "if (flor::SkipBlock b{\"b\"}; b.step_into()) { T t{f(1)}; @IN } @OUT")},
      {"OtherFunction",
       "int helper(int x) { return x; }\nvoid run() {\n"
       "if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(); @IN } @OUT }\n"
       "int main() { for (int64_t epoch : flor::loop(\"epoch\", 9)) { run(); } }\n"},
      {"Method",
       "struct Trainer { int x{3}; Trainer() : x{4} {} void run() const {\n"
       "if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(); @IN } @OUT } };\n"},
  };
  std::vector<Case> cases;
  for (const auto& [name, text] : kForms) {
    for (Case& c : both(name, text)) cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<Case> unclear_forms() {
  const std::string in_two =
      "int main() { if (flor::SkipBlock a{\"a\"}; a.step_into()) { run(); } }\n"
      "void run() { @OUT if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(); @IN } }\n";
  const std::string cannot = "a skip block in a form that cannot be read";
  return {
      probed("OneOfTwoFunctionsInner", in_two, "@IN", executes({"a", "b"}, {"x@b"})),
      probed("OneOfTwoFunctionsOuter", in_two, "@OUT", executes({"a"}, {"x@"})),
      probed("LogUnqualified",
             "using flor::log;\n" +
                 in_main("if (flor::SkipBlock b{\"b\"}; b.step_into()) { log(\"y\", @IN 1); } @OUT"),
             "@OUT", nothing({"x@"})),
      program("UnqualifiedLogAdded",
              "using flor::log;\n" + in_main("if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(); }"),
              "using flor::log;\n" +
                  in_main("if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(); log(\"x\", 1); }"),
              executes({"b"}, {"x@b"})),
      program("LogOfMathematics", in_main("if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(); }"),
              in_main("if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(); } log(3);"), nothing()),
      probed("BareIf", in_main("if (flor::SkipBlock b{\"b\"}; b.step_into()) f(); @OUT @IN"), "@OUT",
             nothing({"x@"})),
      probed("LogTakesThePlaceOfABareStatement",
             in_main("if (flor::SkipBlock b{\"b\"}; b.step_into()) @IN f(); @OUT"), "@IN",
             everything("inside block b", {"x@b"})),
      probed("BlockInMacro",
             "#define BLOCK(n) if (flor::SkipBlock n{#n}; n.step_into())\n" +
                 in_main("BLOCK(b) { f(); @IN } @OUT"),
             "@OUT", everything(cannot, {"x@"})),
      probed("BlockInLambda",
             in_main("auto f = [&] { if (flor::SkipBlock b{\"b\"}; b.step_into()) { g(); @IN } }; f(); @OUT"),
             "@OUT", everything(cannot, {"x@"})),
      probed("BlockWithElse",
             in_main("if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(); } else { @IN } @OUT"), "@OUT",
             everything(cannot, {"x@"})),
      probed("BlockNegated",
             in_main("flor::SkipBlock b{\"b\"}; if (!b.step_into()) { } else { f(); @IN } @OUT"), "@IN",
             everything(cannot, {"x@"})),
      probed("BlockNameNoLiteral", in_main("if (flor::SkipBlock b{name}; b.step_into()) { f(); @IN } @OUT"),
             "@OUT", everything(cannot, {"x@"})),
      probed("BlockAsVariableOfAuto",
             in_main("auto b = flor::SkipBlock{\"b\"}; if (b.step_into()) { f(); @IN } @OUT"), "@OUT",
             everything(cannot, {"x@"})),
      probed("BehindUnknownMacro",
             in_main("if (flor::SkipBlock b{\"b\"}; b.step_into()) { f(); @IN } EACH(i) { @OUT }"), "@OUT",
             everything("behind a macro", {"x@"})),
      probed("StrangeNames",
             in_main("if (flor::SkipBlock b{\"a block/1\"}; b.step_into()) { f(); @IN } @OUT"), "@IN",
             executes({"a_block_1"}, {"x@a_block_1"})),
      probed("LivesOnBehindItsIf",
             in_main("flor::SkipBlock b{\"b\"}; if (b.step_into()) { f(); @IN } scheduler.step(); @OUT"),
             "@OUT", executes({"b"}, {"x@"}, "block b lives on behind its `if`")),
  };
}

Case unedited(const std::string& name, const std::string& text, Expected expected) {
  return program(name, text, text, std::move(expected));
}

std::string block(const std::string& body) {
  return in_main("if (flor::SkipBlock b{\"b\"}; b.step_into()) { " + body + " }");
}

std::vector<Case> left_early() {
  return {
      unedited("LeftByContinue", block("if (bad) continue; f();"),
               executes({"b"}, {}, "is left by `continue`")),
      unedited("LeftByBreak", block("if (bad) { break; } f();"), executes({"b"}, {}, "is left by `break`")),
      unedited("LeftByReturn", block("for (auto& x : xs) { if (x) return 1; }"),
               executes({"b"}, {}, "train.cpp:4: block b is left by `return` here: it executes")),
      unedited("LeftByGoto", block("goto end;"), executes({"b"}, {}, "`goto`")),
      unedited("LeftByCoReturn", block("co_return;"), executes({"b"}, {}, "`co_return`")),
      unedited("LeftByContinueInSwitch", block("switch (x) { case 1: continue; }"),
               executes({"b"}, {}, "`continue`")),
      unedited("LeftByMacro", "#define OUT_IF(x) if (x) break\n" + block("OUT_IF(bad); f();"),
               executes({"b"}, {}, "`OUT_IF`")),
      unedited("LeftFromBareIf", in_main("if (flor::SkipBlock b{\"b\"}; b.step_into()) if (bad) continue;"),
               executes({"b"}, {}, "`continue`")),
      unedited("LeftFromNested", block("if (flor::SkipBlock c{\"c\"}; c.step_into()) { if (bad) continue; }"),
               executes({"b", "c"}, {}, "`continue`")),
      unedited("NotLeftByInnerBreak", block("for (auto& x : xs) { if (x) break; else continue; }"),
               nothing()),
      unedited("NotLeftByBareInnerBreak", block("for (auto& x : xs) if (x) { break; }"), nothing()),
      unedited("NotLeftByDo", block("do { if (x) continue; } while (f());"), nothing()),
      unedited("NotLeftBySwitch", block("switch (x) { case 1: break; }"), nothing()),
      unedited("NotLeftByLambda", block("auto g = [] { return 1; }; run([&](int x) { return x; });"),
               nothing()),
      unedited("NotLeftByLocalClass", block("struct S { int f() { return 1; } };"), nothing()),
      unedited("NotLeftByThrow", block("if (bad) throw 1;"), nothing()),
      program("LeftWhenRecorded", block("if (bad) continue; f();"), block("f();"),
              everything("inside block b")),
  };
}

std::vector<Case> malformed() {
  const std::string good = block("f();");
  return {
      unedited("Empty", "", nothing()),
      program("EmptyToday", good, "", everything("function main removed")),
      program("UnbalancedBraces", good, good + "}", everything("unbalanced brackets")),
      program("UnbalancedRecorded", good + "(", good, everything("recorded source: unbalanced brackets")),
      program("MismatchedBrackets", good, in_main("f(];"), everything("unbalanced brackets")),
      program("OpenString", good, block("f(\"a);"), everything("a string that does not end")),
      program("OpenCharacter", good, block("f('a);"), everything("a character that does not end")),
      program("OpenComment", good, good + "/* ", everything("a comment that does not end")),
      program("OpenRawString", good, good + "R\"a(", everything("a raw string that does not end")),
      program("BracesInBranches", good, in_main("#if A\n if (x) {\n#else\n {\n#endif\n }"),
              everything("unbalanced #if")),
      program("BranchClosesMore", good, in_main("if (x) {\n#if A\n } {\n#endif\n }"),
              everything("unbalanced #if")),
      program("OpenBranch", good, "#if A\n" + good, everything("unbalanced #if")),
      program("HalfAPairInMacro", good, "#define BEGIN {\n" + good, everything("a macro of half a pair")),
      program("DeepNesting", good, in_main(std::string(5000, '{') + std::string(5000, '}')),
              everything("nested too")),
      program("Huge", good, std::string(size_t{3} << 20, ' '), everything("too large")),
      unedited("ApostropheInDirective", "#if 0\n#error don't\n#endif\n" + good, nothing()),
  };
}

}  // namespace

std::vector<Case> shape_cases() {
  std::vector<Case> cases;
  for (const auto& part : {forms(), unclear_forms(), left_early(), malformed()}) {
    cases.insert(cases.end(), part.begin(), part.end());
  }
  return cases;
}

}  // namespace flor::probes
