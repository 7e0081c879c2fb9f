// What a checkpoint of a large state takes from the training thread, for every way to take one: the time that
// the call keeps it (stall), and what the iterations behind it take longer until the checkpoint is on disk
// (page faults after a fork, interference). Each iteration writes the whole state.
//
//   materialize [--mib 1100] [--rounds 5] [--directory DIR] [--json FILE]
//   materialize --objects 600 [--kib 256] …       total time of many small checkpoints, by size of the batch
//   materialize --looking 1000 …                  what it costs to ask each of 1,000 tensors whether it
//   changed,
//                                                 when all of them have
//
// All ways take turns within a round; medians and quartiles over the rounds.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "ways.h"

namespace {

using bench::bytes_of;
using bench::Flor;
using bench::Memcpy;
using bench::OtherProcess;
using bench::Tensors;
using bench::TorchSave;
using bench::Way;
using flor::core::Json;
using flor::core::monotonic_seconds;
namespace fs = std::filesystem;

struct Asked {
  std::size_t mib = 1100, kib = 256;
  int rounds = 5, objects = 0, looking = 0;
  std::string directory, json;
};

double quantile(std::vector<double> values, double at) {
  std::sort(values.begin(), values.end());
  const double place = at * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(low);
  return values[low] * (1 - part) + values[std::min(low + 1, values.size() - 1)] * part;
}

Json spread(const std::vector<double>& values) {
  return {{"median", quantile(values, 0.5)},
          {"q1", quantile(values, 0.25)},
          {"q3", quantile(values, 0.75)},
          {"samples", values}};
}

double iterate(Tensors& state) {
  const double begun = monotonic_seconds();
  for (auto& tensor : state) tensor.mul_(1.0000001);
  return monotonic_seconds() - begun;
}

using Make = std::function<std::unique_ptr<Way>(const fs::path& directory)>;

struct Lost {
  std::vector<double> stall, rest;
};

// One checkpoint, and the iterations behind it until it is on disk (two at least).
void one_turn(Way& way, Tensors& state, int number, Lost& lost) {
  std::vector<double> alone;
  alone.reserve(3);
  for (int i = 0; i < 3; ++i) alone.push_back(iterate(state));
  const double usual = quantile(alone, 0.5);
  const double begun = monotonic_seconds();
  way.take(state, number);
  lost.stall.push_back(monotonic_seconds() - begun);
  double more = 0;
  for (int i = 0; i < 2 || way.busy(); ++i) more += iterate(state) - usual;
  lost.rest.push_back(more);
  way.finish();
}

// Of each round, one over the other.
std::vector<double> ratios(const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> out;
  for (std::size_t i = 0; i < of.size(); ++i) out.push_back(of[i] / to[i]);
  return out;
}

std::vector<double> whole(const Lost& lost) {
  std::vector<double> out;
  for (std::size_t i = 0; i < lost.stall.size(); ++i) out.push_back(lost.stall[i] + lost.rest[i]);
  return out;
}

// The first two ways are what the others are compared with: memcpy, torch::save.
Json report(const std::vector<std::pair<std::string, Make>>& ways, const std::vector<Lost>& lost) {
  Json out = Json::array();
  std::printf("%17s %22s %22s %22s %22s\n", "median, quartiles", "stall, s", "rest, s", "stall / memcpy",
              "whole / torch::save");
  for (std::size_t w = 0; w < ways.size(); ++w) {
    Json row{{"way", ways[w].first},
             {"stall", spread(lost[w].stall)},
             {"rest", spread(lost[w].rest)},
             {"stall_to_memcpy", spread(ratios(lost[w].stall, lost[0].stall))},
             {"whole_to_torch_save", spread(ratios(whole(lost[w]), whole(lost[1])))}};
    std::printf("%17s", ways[w].first.c_str());
    for (const char* key : {"stall", "rest", "stall_to_memcpy", "whole_to_torch_save"}) {
      std::printf(" %8.4f %6.3f %6.3f", row[key]["median"].get<double>(), row[key]["q1"].get<double>(),
                  row[key]["q3"].get<double>());
    }
    std::printf("\n");
    out.push_back(std::move(row));
  }
  return out;
}

Tensors tensors_of(std::size_t mib, std::size_t count) {
  Tensors state;
  for (std::size_t i = 0; i < count; ++i)
    state.push_back(torch::ones({static_cast<int64_t>((mib << 18) / count)}));
  return state;
}

void remove_files(const fs::path& directory) {
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) fs::remove(entry.path());
  }
}

Json large_state(const Asked& asked, const fs::path& directory) {
  constexpr std::size_t part = 25;
  Tensors state = tensors_of(asked.mib, asked.mib / part);
  std::vector<std::pair<std::string, Make>> ways = {
      {"memcpy", [](const fs::path&) { return std::make_unique<Memcpy>(); }},
      {"torch::save", [](const fs::path& d) { return std::make_unique<TorchSave>(d); }},
      {"pipe", [](const fs::path& d) { return std::make_unique<OtherProcess>(d, 0); }},
      {"shared memory",
       [&](const fs::path& d) { return std::make_unique<OtherProcess>(d, bytes_of(state)); }}};
  for (const char* name : {"inline", "thread", "fork", "fork-batch"}) {
    ways.emplace_back(name, [name](const fs::path& d) {
      return std::make_unique<Flor>(flor::core::make_materializer(name, flor::core::RunDir{d}));
    });
  }
  ways.emplace_back("thread, looking", [](const fs::path& d) {
    return std::make_unique<Flor>(flor::core::make_materializer("thread", flor::core::RunDir{d}), true);
  });
  std::vector<Lost> lost(ways.size());
  // A way stays for all rounds, as in a run. The first of its two checkpoints in a round is not counted:
  // memory that lay idle while the others had their turns may have gone back to the host of a virtual
  // machine.
  std::vector<std::unique_ptr<Way>> open;
  for (std::size_t w = 0; w < ways.size(); ++w) {
    fs::create_directories(directory / std::to_string(w));
    open.push_back(ways[w].second(directory / std::to_string(w)));
  }
  for (int round = 0; round < asked.rounds; ++round) {
    for (std::size_t w = 0; w < ways.size(); ++w) {
      Lost ignored;
      one_turn(*open[w], state, 2 * round, ignored);
      one_turn(*open[w], state, 2 * round + 1, lost[w]);
      remove_files(directory / std::to_string(w));
    }
  }
  // The last one first: a process that was started later holds the ends of its predecessors' pipes.
  while (!open.empty()) open.pop_back();
  return report(ways, lost);
}

// Both sides of a pair are one materializer and one state; who is first alternates.
Json cost_of_looking(const Asked& asked, const fs::path& directory) {
  Tensors state = tensors_of(asked.mib, static_cast<std::size_t>(asked.looking));
  std::vector<Lost> lost(2);
  std::vector<double> share;
  std::vector<std::unique_ptr<Flor>> sides;
  for (const bool looks : {false, true}) {
    const fs::path place = directory / (looks ? "looking" : "blind");
    fs::create_directories(place);
    sides.push_back(
        std::make_unique<Flor>(flor::core::make_materializer("thread", flor::core::RunDir{place}), looks));
  }
  for (int turn = 0; turn < asked.rounds + 2; ++turn) {
    for (const int order : {0, 1}) {
      const auto side = static_cast<std::size_t>((turn + order) % 2);
      Lost warming;  // the first two turns of each
      one_turn(*sides[side], state, turn, turn < 2 ? warming : lost[side]);
    }
    remove_files(directory);
    if (turn >= 2) share.push_back(sides[1]->looked() / lost[1].stall.back());
  }
  Json out{{"tensors", asked.looking},
           {"share_of_stall", spread(share)},
           {"stall_to_blind", spread(ratios(lost[1].stall, lost[0].stall))},
           {"whole_to_blind", spread(ratios(whole(lost[1]), whole(lost[0])))}};
  std::printf("%17s %9s %17s\n", "", "median", "quartiles");
  for (const char* key : {"share_of_stall", "stall_to_blind", "whole_to_blind"}) {
    std::printf("%17s %9.5f %8.5f %8.5f\n", key, out[key]["median"].get<double>(),
                out[key]["q1"].get<double>(), out[key]["q3"].get<double>());
  }
  return out;
}

Json many_objects(const Asked& asked, const fs::path& directory) {
  Tensors state = {torch::ones({static_cast<int64_t>(asked.kib << 8)})};
  const std::vector<int> batches = {1, 2, 5, 10, 25, 50, 100, 200, 600};
  std::vector<std::vector<double>> total(batches.size());
  for (int round = 0; round < asked.rounds; ++round) {
    for (std::size_t b = 0; b < batches.size(); ++b) {
      const fs::path place = directory / std::to_string(round) / std::to_string(b);
      fs::create_directories(place);
      const double begun = monotonic_seconds();
      Flor flor(flor::core::make_fork_batch_materializer(
          flor::core::RunDir{place}, static_cast<std::size_t>(batches[b]) * bytes_of(state)));
      for (int i = 0; i < asked.objects; ++i) flor.take(state, i);
      flor.finish();
      total[b].push_back(monotonic_seconds() - begun);
      fs::remove_all(place);
    }
  }
  Json out = Json::array();
  std::printf("%8s %9s %17s\n", "batch", "total s", "quartiles");
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const Json row = spread(total[b]);
    out.push_back({{"batch", batches[b]}, {"total", row}});
    std::printf("%8d %9.4f %8.4f %8.4f\n", batches[b], row["median"].get<double>(), row["q1"].get<double>(),
                row["q3"].get<double>());
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) try {
  Asked asked;
  CLI::App app{"What a checkpoint takes from the training thread"};
  app.add_option("--mib", asked.mib);
  app.add_option("--rounds", asked.rounds);
  app.add_option("--objects", asked.objects);
  app.add_option("--kib", asked.kib);
  app.add_option("--looking", asked.looking);
  app.add_option("--directory", asked.directory);
  app.add_option("--json", asked.json);
  CLI11_PARSE(app, argc, argv);
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  std::string name =
      (asked.directory.empty() ? fs::temp_directory_path() : fs::path(asked.directory)) / "flor-bench-XXXXXX";
  const fs::path directory = ::mkdtemp(name.data());
  const auto measure = asked.objects > 0 ? many_objects : asked.looking > 0 ? cost_of_looking : large_state;
  const Json result = measure(asked, directory);
  fs::remove_all(directory);
  if (!asked.json.empty()) std::ofstream(asked.json) << result.dump(1) << "\n";
  return 0;
} catch (const std::exception& problem) {
  std::cerr << "materialize: " << problem.what() << "\n";
  return 1;
}
