// Programs of several files.
#include "corpus.h"

namespace flor::probes {
namespace {

Case files(std::string name, std::vector<SourceFile> recorded, std::vector<SourceFile> present,
           Expected expected) {
  Case c = program(std::move(name), "", "", std::move(expected));
  c.recorded = std::move(recorded);
  c.present = std::move(present);
  return c;
}

const char* const kLog = R"(flor::log("x", 1);)";

const std::string kExternC =
    "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(int);\n#ifdef __cplusplus\n}\n#endif\n";

std::vector<Case> pairs() {
  const SourceFile train{"/exp/train.cpp", train_cpp()};
  const SourceFile model{"/exp/model.h", model_h()};
  const std::string probed = edit(train_cpp(), {insert(kInTrain, kLog)});
  return {
      files("NothingRecorded", {}, {}, everything("no source was recorded")),
      files("OtherDirectory", {train, model},
            {{"/tmp/probe/model.h", model_h()}, {"/tmp/probe/train.cpp", probed}},
            executes({"train"}, {"x@train"})),
      files("FileMissing", {train, model}, {train}, everything("model.h: not found today")),
      files("FileNew", {train, model}, {train, model, {"/exp/extra.h", ""}}, nothing()),
      files("SeveralOfOneName", {train}, {{"/a/train.cpp", probed}, {"/b/train.cpp", train_cpp() + "int x;"}},
            everything("train.cpp: several files of today may be this one")),
      files("OneNameTwoDirectories", {{"/exp/a/util.h", "int a;"}, {"/exp/b/util.h", "int b;"}},
            {{"/new/b/util.h", "int b;"}, {"/new/a/util.h", "int a;"}}, nothing()),
      files("RenamedFile", {train, model}, {{"/exp/probe.cpp", train_cpp()}, model}, nothing()),
      files("RenamedAndEdited", {train, model}, {{"/exp/probe.cpp", probed}, model},
            everything("not found today")),
      files("UnreadableButUnchanged", {train, model, {"/exp/c.h", kExternC}},
            {{"/exp/train.cpp", probed}, model, {"/exp/c.h", kExternC}}, executes({"train"}, {"x@train"})),
      files("UnreadableWithGradients", {train, model, {"/exp/c.h", kExternC + "float* grad;"}},
            {{"/exp/train.cpp", probed}, model, {"/exp/c.h", kExternC + "float* grad;"}},
            everything("unbalanced #if", {"x@train"})),
      files("UnreadableAndChanged", {train, model, {"/exp/c.h", kExternC}},
            {train, model, {"/exp/c.h", kExternC + "int x;"}},
            everything("c.h:3: present source: unbalanced #if")),
      files("LibraryHeader",
            {train, model, {"/usr/include/flor/flor.h", "namespace flor { class SkipBlock; }"}},
            {train, model, {"/opt/include/flor/flor.h", "namespace flor { class SkipBlock; }"}}, nothing()),
      files("LibraryHeaderChanged",
            {train, {"/usr/include/flor/flor.h", "namespace flor { class SkipBlock; }"}},
            {train, {"/opt/include/flor/flor.h", "namespace flor { }"}},
            everything("another version of the library")),
  };
}

std::vector<Case> headers() {
  const SourceFile train{"/exp/train.cpp", train_cpp()};
  const SourceFile model{"/exp/model.h", model_h()};
  const auto header = [&](const std::string& name, const std::vector<Replacement>& changes,
                          Expected expected) {
    return files(name, {train, model}, {train, {"/exp/model.h", edit(model_h(), changes)}},
                 std::move(expected));
  };
  return {
      header("HeaderChanged", {{"784", "785"}}, everything("model.h:5: member of a class added or changed")),
      header("HeaderComment", {{"#pragma once\n", "#pragma once\n// {\n"}}, nothing()),
      header("LogInForward", {{"    return x;\n", std::string(kLog) + "    return x;\n"}},
             executes({"train"}, {"x@"}, "model.h:8: log added in a function that runs in block")),
      header("MethodAdded", {{"  int width;\n", "  int width;\n  int height() { return 3; }\n"}}, nothing()),
      header("HelperInHeader",
             {{"TORCH_MODULE(Net);\n", "TORCH_MODULE(Net);\ninline int helper(int x) { return x; }\n"}},
             nothing()),
      files("LogInForwardOfTheSameFile", {{"/exp/train.cpp", model_h() + train_cpp()}},
            {{"/exp/train.cpp",
              edit(model_h(), {{"    return x;\n", std::string(kLog) + "    return x;\n"}}) + train_cpp()}},
            executes({"train"}, {"x@"}, "log added in a function that runs in block")),
  };
}

std::vector<Case> stale() {
  Case newer =
      edited("NewerThanBinary", {},
             everything("train.cpp: present source newer than the binary (build the program again)"));
  newer.present[0].newer_than_binary = true;
  Case newer_then =
      edited("NewerThanBinaryWhenRecorded", {}, everything("recorded source newer than the binary"));
  newer_then.recorded[1].newer_than_binary = true;
  Case unresolved =
      edited("Unresolved", {}, everything("generated.h: present include whose file was not found"));
  unresolved.unresolved_present = {"gen/generated.h"};
  Case unresolved_then = edited("UnresolvedWhenRecorded", {}, everything("recorded include whose file"));
  unresolved_then.unresolved_recorded = {"generated.h"};
  return {newer, newer_then, unresolved, unresolved_then};
}

}  // namespace

std::vector<Case> file_cases() {
  std::vector<Case> cases;
  for (const auto& part : {pairs(), headers(), stale()}) cases.insert(cases.end(), part.begin(), part.end());
  return cases;
}

}  // namespace flor::probes
