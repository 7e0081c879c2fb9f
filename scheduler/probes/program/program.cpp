#include "probes/program/program.h"

#include <cctype>

#include "probes/cxx/blocks.h"
#include "probes/cxx/log_calls.h"
#include "probes/cxx/names.h"
#include "probes/program/file_pairs.h"

namespace flor::probes {
namespace {

bool is_header(const std::string& name) {
  static const std::set<std::string> kUnits = {".cpp", ".cc", ".cxx", ".c++", ".C", ".cu", ".c"};
  const size_t dot = name.rfind('.');
  return dot == std::string::npos || kUnits.count(name.substr(dot)) == 0;
}

Source read_source(const SourceFile& file, const std::shared_ptr<Texts>& texts) {
  Source source;
  source.file = &file;
  source.name = base_name(file.path);
  source.header = is_header(source.name);
  source.library = is_library(file);
  source.tree = parse(source.library ? "" : file.text, texts);
  mark_blocks(&source.tree);
  source.unqualified_log = logs_unqualified(source.tree);
  return source;
}

// Returns everything that looks like a word, also in comments and strings.
WordSet raw_words(const std::string& text) {
  WordSet found;
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

bool is_library(const SourceFile& file) {
  const std::string folder = file.path.substr(0, file.path.size() - base_name(file.path).size());
  const std::string end = "/flor/";
  const bool inside =
      folder.size() >= end.size() && folder.compare(folder.size() - end.size(), end.size(), end) == 0;
  return inside && is_header(file.path) && file.text.find("namespace flor") != std::string::npos;
}

bool irrelevant(const Source& source) {
  const WordSet found = raw_words(source.file->text);
  for (const char* word :
       {"flor", "log", "SkipBlock", "step_into", "grad", "mutable_grad", "backward", "step", "zero_grad"}) {
    if (found.count(word) != 0) return false;
  }
  return true;
}

GradientNames gradient_names(const Program& program) {
  GradientNames out;
  if (program.words.count("grad") + program.words.count("mutable_grad") == 0) return out;
  std::vector<const Tree*> trees;
  for (const Source& source : program.sources) trees.push_back(&source.tree);
  out.backward = names_leading_to(trees, {"backward"}, true);
  out.values = names_leading_to(trees, {"grad", "mutable_grad"}, false);
  return out;
}

Program read_program(const std::vector<SourceFile>& files, const std::vector<const Source*>& known,
                     const std::shared_ptr<Texts>& texts) {
  Program program;
  std::vector<bool> seen;  // by the id of a text: it is among the words
  program.sources.reserve(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    if (i < known.size() && known[i] != nullptr) {
      program.sources.push_back(*known[i]);
      program.sources.back().file = &files[i];
      program.sources.back().name = base_name(files[i].path);
    } else {
      program.sources.push_back(read_source(files[i], texts));
    }
    const Source& source = program.sources.back();
    if (source.tree.error.empty()) {
      add_words(source.tree, &seen, program.words);
    } else {
      program.words.merge(raw_words(files[i].text));
    }
  }
  return program;
}

}  // namespace flor::probes
