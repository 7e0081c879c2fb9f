// What writing past the page cache (O_DIRECT) wins, and what larger calls win. All in turns, each to the end
// of its fsync.
//
//   writers DIRECTORY [--mib 512] [--rounds 9] [--json FILE]
//
// Prints, for each way, the wall time and the CPU time of this process as ratios to cached writes of 1 MiB of
// the same round: the median, and the lowest and highest.
#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/files/durable.h"
#include "core/materialize/direct_output.h"
#include "core/materialize/staging.h"

namespace {

using namespace flor::core;  // NOLINT: a program, no header

struct Way {
  std::string name;
  std::size_t call = 0;  // bytes of one call
  bool direct = false;
};

struct Took {
  double wall = 0, cpu = 0;
};

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void check(int error, const std::string& what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

Took write_once(const Way& way, const std::string& path, const unsigned char* bytes, std::size_t size) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | (way.direct ? O_DIRECT : 0), 0600);
  if (fd < 0) check(errno, "cannot open " + path);
  const double cpu = cpu_seconds(), begun = monotonic_seconds();
  for (std::size_t at = 0; at < size; at += way.call) {
    const std::size_t part = std::min(way.call, size - at);
    check(step::write(fd, bytes + at, part, static_cast<off_t>(at)), way.name + ": cannot write " + path);
  }
  check(step::sync(fd), "cannot sync " + path);
  const Took took{monotonic_seconds() - begun, cpu_seconds() - cpu};
  ::close(fd);
  ::unlink(path.c_str());
  return took;
}

const std::vector<Way> ways{{"cached, 1 MiB", DirectOutput::block, false},
                            {"cached, 16 MiB", DirectOutput::most, false},
                            {"direct, 1 MiB", DirectOutput::block, true},
                            {"direct, 16 MiB", DirectOutput::most, true}};

Json spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {{"median", values[values.size() / 2]}, {"low", values.front()}, {"high", values.back()}};
}

Json measure(const std::string& directory, std::size_t mib, int rounds) {
  const std::size_t size = mib << 20;
  Staging staging;
  unsigned char* const bytes = staging.require(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>((i * 2654435761U) >> 13);
  std::vector<std::vector<double>> wall(ways.size()), cpu(ways.size());
  double cached_mib_a_second = 0;
  for (int round = -1; round < rounds; ++round) {  // the first one warms up
    std::vector<Took> took;
    for (const auto& way : ways)
      took.push_back(write_once(way, directory + "/flor-bench-writers", bytes, size));
    if (round < 0) continue;
    for (std::size_t w = 0; w < ways.size(); ++w) {
      wall[w].push_back(took[w].wall / took[0].wall);
      cpu[w].push_back(took[w].cpu / took[0].cpu);
    }
    cached_mib_a_second = static_cast<double>(mib) / took[0].wall;
  }
  Json out = {{"mib", mib}, {"rounds", rounds}, {"cached_mib_a_second", cached_mib_a_second}};
  for (std::size_t w = 0; w < ways.size(); ++w) {
    out["ways"][ways[w].name] = {{"wall", spread(wall[w])}, {"cpu", spread(cpu[w])}};
    std::printf("%-18s wall %5.2f (%.2f-%.2f)   cpu %5.2f (%.2f-%.2f)\n", ways[w].name.c_str(),
                out["ways"][ways[w].name]["wall"]["median"].get<double>(),
                spread(wall[w])["low"].get<double>(), spread(wall[w])["high"].get<double>(),
                spread(cpu[w])["median"].get<double>(), spread(cpu[w])["low"].get<double>(),
                spread(cpu[w])["high"].get<double>());
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) try {
  std::string directory, json;
  std::size_t mib = 512;
  int rounds = 9;
  CLI::App app{"Compare the ways to write a large checkpoint", "writers"};
  app.add_option("directory", directory)->required()->check(CLI::ExistingDirectory);
  app.add_option("--mib", mib)->check(CLI::PositiveNumber);
  app.add_option("--rounds", rounds)->check(CLI::PositiveNumber);
  app.add_option("--json", json);
  CLI11_PARSE(app, argc, argv);
  const Json result = measure(directory, mib, rounds);
  if (!json.empty()) std::ofstream(json) << result.dump(1) << "\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << "writers: " << error.what() << "\n";
  return 1;
}
