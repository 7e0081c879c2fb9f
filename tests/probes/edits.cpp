#include "edits.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace flor::probes {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<SourceFile> program_in(const fs::path& folder) {
  std::vector<SourceFile> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    out.push_back({"/exp/" + fs::relative(entry.path(), folder).string(), read_text(entry.path())});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return out;
}

// Reads one .edits file.
class Reader {
 public:
  explicit Reader(const fs::path& path) : path_(path), lines_(read_text(path)) {}

  std::vector<EditCase> run() {
    for (std::string line; std::getline(lines_, line);) {
      std::istringstream words(line);
      std::string key;
      words >> key;
      if (key.empty() || key[0] == '#') continue;
      entry(key, words);
    }
    return std::move(cases_);
  }

 private:
  EditCase& now() { return cases_.back(); }

  void entry(const std::string& key, std::istringstream& words) {
    if (key == "case") {
      cases_.emplace_back();
      words >> now().name;
      now().folder = path_.parent_path().filename().string();
      return;
    }
    std::vector<std::string> rest;
    for (std::string word; words >> word;) rest.push_back(word);
    if (key == "program")
      now().recorded = now().present = program_in(path_.parent_path() / "programs" / rest.at(0));
    if (key == "expect") now().wrong = rest.at(0) == "wrong";
    if (key == "execute") {
      now().everything = rest.at(0) == "*";
      if (!now().everything) now().execute = {rest.begin(), rest.end()};
    }
    if (key == "lead_in") now().lead_in = {rest.begin(), rest.end()};
    if (key == "withheld") now().withheld = {rest.begin(), rest.end()};
    if (key == "from_start") now().from_start = true;
    if (key == "probes") now().probes = rest;
    if (key == "in") replace(rest.at(0));
    if (key == "new") now().present.push_back({"/exp/" + rest.at(0), text_until(">>>>")});
  }

  std::string text_until(const std::string& end) {
    std::string text;
    for (std::string line; std::getline(lines_, line) && line != end;) {
      if (line != "<<<<") text += line + "\n";
    }
    return text;
  }

  void replace(const std::string& file) {
    const std::string from = text_until("====");
    const std::string to = text_until(">>>>");
    for (SourceFile& source : now().present) {
      if (source.path != "/exp/" + file) continue;
      const size_t at = source.text.find(from);
      if (at == std::string::npos) throw std::runtime_error(now().name + ": not in " + file + ": " + from);
      source.text.replace(at, from.size(), to);
      return;
    }
    throw std::runtime_error(now().name + ": no file " + file);
  }

  fs::path path_;
  std::istringstream lines_;
  std::vector<EditCase> cases_;
};

}  // namespace

std::vector<EditCase> read_edits(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".edits") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<EditCase> out;
  for (const fs::path& file : files) {
    auto more = Reader(file).run();
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

}  // namespace flor::probes
