// Reads what is almost well-formed, for so many seconds a target; to be built with sanitizers.
//
//   fuzz [--seconds 10] [--seed N] [--jobs N] [TARGET …]
//   fuzz --input FILE TARGET      reads what such a file holds, once
//
// A target that crashes, hangs for a minute, or throws what is no core::Error fails; its input is left in a
// file and its seed printed.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "mutate.h"
#include "targets.h"

namespace flor::fuzz {
namespace {

constexpr unsigned hang_s = 60;

struct Options {
  double seconds = 10;
  unsigned long seed = std::random_device()();
  int jobs = 2;
  std::optional<std::string> input;
  std::vector<std::string> names;
};

// The input that is being read, for whoever outlives the process.
class Current {
 public:
  Current()
      : memory_(static_cast<char*>(
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  void set(const std::string& input) {
    const std::size_t length = std::min(input.size(), size - sizeof length);
    std::memcpy(memory_, &length, sizeof length);
    std::memcpy(memory_ + sizeof length, input.data(), length);
  }
  std::string get() const {
    std::size_t length = 0;
    std::memcpy(&length, memory_, sizeof length);
    return {memory_ + sizeof length, length};
  }

 private:
  static constexpr std::size_t size = std::size_t{1} << 20;
  char* memory_;  // until the program ends
};

std::string input_file(const Target& target) {
  return "fuzz-" + target.name + ".input";
}

// In a process of its own. Returns its exit code.
int run(const Target& target, const Options& options, Current& current) {
  using Clock = std::chrono::steady_clock;
  Random random(options.seed);
  const auto until = Clock::now() + std::chrono::duration<double>(options.seconds);
  long inputs = 0, refused = 0;
  for (; inputs == 0 || (!options.input && Clock::now() < until); ++inputs) {
    const std::string input = options.input ? *options.input
                              : inputs == 0 ? target.seeds.front()
                                            : mutated(target.seeds, random);
    current.set(input);
    ::alarm(hang_s);
    try {
      target.read(input);
    } catch (const core::Error&) {
      refused += 1;
    } catch (const std::exception& problem) {
      std::printf("%s: throws '%s'\n", target.name.c_str(), problem.what());
      return 1;
    }
  }
  std::printf("%-18s %9ld inputs, %ld refused\n", target.name.c_str(), inputs, refused);
  return 0;
}

bool is_asked(const Target& target, const Options& options) {
  if (options.names.empty()) return true;
  for (const auto& name : options.names) {
    if (name == target.name) return true;
  }
  return false;
}

int run_all(const std::vector<Target>& targets, const Options& options) {
  std::map<pid_t, std::pair<const Target*, Current>> running;
  int failed = 0;
  const auto wait_for_one = [&] {
    int status = 0;
    const pid_t pid = ::wait(&status);
    if (status != 0) {
      failed += 1;
      const auto& [target, current] = running.at(pid);
      std::ofstream(input_file(*target), std::ios::binary) << current.get();
      std::cout << target->name << " failed with seed " << options.seed << "; its input is in "
                << input_file(*target) << std::endl;
    }
    running.erase(pid);
  };
  for (const auto& target : targets) {
    if (!is_asked(target, options)) continue;
    if (static_cast<int>(running.size()) == options.jobs) wait_for_one();
    std::cout << std::flush;
    Current current;
    const pid_t pid = ::fork();
    if (pid == 0) {
      const int code = run(target, options, current);
      std::fflush(nullptr);
      ::_exit(code);
    }
    running.emplace(pid, std::pair(&target, current));
  }
  while (!running.empty()) wait_for_one();
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace flor::fuzz

int main(int argc, char** argv) {
  flor::fuzz::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--seconds" && has_value)
      options.seconds = std::atof(argv[++i]);
    else if (word == "--seed" && has_value)
      options.seed = std::strtoul(argv[++i], nullptr, 10);
    else if (word == "--jobs" && has_value)
      options.jobs = std::atoi(argv[++i]);
    else if (word == "--input" && has_value)
      options.input = flor::core::read_file(argv[++i]);
    else
      options.names.push_back(word);
  }
  auto targets = flor::fuzz::texts();
  targets.push_back(flor::fuzz::replies());
  return flor::fuzz::run_all(targets, options);
}
