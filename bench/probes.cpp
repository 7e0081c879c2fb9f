// How long the decision about added log statements takes, and its parts. Needs no LibTorch.
//
//   probes --core tests/probes/corpus/known/programs/segment [--files 20] [--lines 2000] [--probes 40]
//          [--rounds 15] [--write DIRECTORY] [--json FILE]
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

#include "bench/probes_program.h"
#include "probes/cxx/tree_diff.h"
#include "probes/flow/flow.h"

namespace {

namespace fs = std::filesystem;
namespace probes = flor::probes;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// The files of a small program, that with main() first.
std::vector<probes::SourceFile> read_core(const fs::path& folder) {
  std::vector<probes::SourceFile> files;
  for (const auto& entry : fs::directory_iterator(folder))
    files.push_back({"/exp/" + entry.path().filename().string(), text_of(entry.path())});
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  std::stable_partition(files.begin(), files.end(), [](const probes::SourceFile& file) {
    return file.text.find("int main(") != std::string::npos;
  });
  return files;
}

void write(const std::vector<probes::SourceFile>& files, const fs::path& folder) {
  fs::create_directories(folder);
  for (const auto& file : files) std::ofstream(folder / fs::path(file.path).filename()) << file.text;
}

double seconds_of(const std::function<void()>& work) {
  // The time of the process on its core: that of others on the machine does not count.
  const auto now = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double begin = now();
  work();
  return now() - begin;
}

// One round: the whole, and each part of it by itself.
void measure(const flor::bench::ProgramPair& program, std::map<std::string, std::vector<double>>* times) {
  (*times)["decision"].push_back(
      seconds_of([&] { probes::analyse(program.recorded, program.present, {}, {}); }));
  probes::Program before, after;
  (*times)["read"].push_back(seconds_of([&] {
    before = probes::read_program(program.recorded);
    after = probes::read_program(program.present);
  }));
  (*times)["compare"].push_back(seconds_of([&] {
    for (std::size_t i = 0; i < program.recorded.size(); ++i)
      probes::diff(before.sources[i].tree, after.sources[i].tree);
  }));
  probes::Model model;
  (*times)["model"].push_back(seconds_of([&] { model = probes::build_model(after); }));
  (*times)["flow"].push_back(seconds_of([&] { const probes::Flow flow(model); }));
}

}  // namespace

int main(int argc, char** argv) {
  fs::path core, folder, json;
  std::size_t files = 20, lines = 2000, count = 40, rounds = 15;
  CLI::App app{"The time of the decision about added log statements, and of its parts"};
  app.add_option("--core", core, "folder of the program that helper files are put around")->required();
  app.add_option("--files", files);
  app.add_option("--lines", lines, "of each file, at least");
  app.add_option("--probes", count);
  app.add_option("--rounds", rounds, "0: none");
  app.add_option("--write", folder, "write the program to old/ and new/ in here, for flor probes --between");
  app.add_option("--json", json, "keep what was measured");
  CLI11_PARSE(app, argc, argv);

  const auto program = flor::bench::make_program(read_core(core), files, lines, count);
  if (!folder.empty()) {
    write(program.recorded, folder / "old");
    write(program.present, folder / "new");
  }
  std::size_t total = 0;
  for (const auto& file : program.present)
    total += static_cast<std::size_t>(std::count(file.text.begin(), file.text.end(), '\n'));
  std::cout << program.present.size() << " files, " << total << " lines, " << count << " probes\n";
  std::map<std::string, std::vector<double>> times;
  for (std::size_t round = 0; round < rounds; ++round) measure(program, &times);
  nlohmann::json out{{"files", program.present.size()}, {"lines", total}, {"probes", count}};
  for (auto& [part, all] : times) {
    std::sort(all.begin(), all.end());
    std::cout << std::left << std::setw(12) << part << std::right << std::fixed << std::setprecision(1)
              << std::setw(8) << 1e3 * all[all.size() / 2] << " ms of CPU (" << 1e3 * all.front() << " to "
              << 1e3 * all.back() << ")\n";
    out["seconds"][part] = all;
  }
  if (!json.empty()) std::ofstream(json) << out.dump(1) << "\n";
  return 0;
}
