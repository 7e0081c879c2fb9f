#include "scheduler/probes/program.h"

#include <cctype>

#include "scheduler/probes/blocks.h"
#include "scheduler/probes/file_pairs.h"
#include "scheduler/probes/log_calls.h"
#include "scheduler/probes/names.h"

namespace flor::probes {
namespace {

bool is_header(const std::string& name) {
  static const std::set<std::string> kUnits = {".cpp", ".cc", ".cxx", ".c++", ".C", ".cu", ".c"};
  const size_t dot = name.rfind('.');
  return dot == std::string::npos || kUnits.count(name.substr(dot)) == 0;
}

// …/flor/NAME.h of the library itself, reached where a program writes "flor/flor.h" with quotes.
bool is_library(const SourceFile& file) {
  const std::string folder = file.path.substr(0, file.path.size() - base_name(file.path).size());
  const std::string end = "/flor/";
  const bool inside =
      folder.size() >= end.size() && folder.compare(folder.size() - end.size(), end.size(), end) == 0;
  return inside && is_header(file.path) && file.text.find("namespace flor") != std::string::npos;
}

Source read_source(const SourceFile& file) {
  Source source;
  source.file = &file;
  source.name = base_name(file.path);
  source.header = is_header(source.name);
  source.library = is_library(file);
  source.tree = parse(source.library ? "" : file.text);
  mark_blocks(&source.tree);
  source.unqualified_log = logs_unqualified(source.tree);
  return source;
}

// Whatever looks like a word, in comments and strings, too.
std::set<std::string> raw_words(const std::string& text) {
  std::set<std::string> found;
  std::string word;
  for (const char c : text + " ") {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (part) {
      word += c;
    } else if (!word.empty()) {
      found.insert(std::move(word));
      word.clear();
    }
  }
  return found;
}

}  // namespace

bool irrelevant(const Source& source) {
  const std::set<std::string> found = raw_words(source.file->text);
  for (const char* word :
       {"flor", "log", "SkipBlock", "step_into", "grad", "mutable_grad", "backward", "step", "zero_grad"}) {
    if (found.count(word) != 0) return false;
  }
  return true;
}

bool Program::callers_clear(const Source& source, int function) const {
  const Node& node = source.tree.node(function);
  if (node.parent == 0 && node.name == "main") return true;
  for (const auto& holder : block_functions) {
    if (holder != std::make_pair(&source, function)) return false;
  }
  return true;
}

Program read_program(const std::vector<SourceFile>& files) {
  Program program;
  std::vector<const Tree*> trees;
  program.sources.reserve(files.size());
  for (const SourceFile& file : files) {
    program.sources.push_back(read_source(file));
    const Source& source = program.sources.back();
    trees.push_back(&source.tree);
    const bool readable = source.tree.error.empty();
    program.words.merge(readable ? words(source.tree, false) : raw_words(file.text));
    program.free_words.merge(readable ? words(source.tree, true) : raw_words(file.text));
    for (const int block : blocks_in(source.tree, 0)) {
      program.block_functions.emplace(&source, function_around(source.tree, block));
    }
  }
  program.mutators = names_leading_to(trees, {"backward", "step", "zero_grad"}, true);
  program.backward = names_leading_to(trees, {"backward"}, true);
  program.gradients = names_leading_to(trees, {"grad", "mutable_grad"}, false);
  return program;
}

}  // namespace flor::probes
