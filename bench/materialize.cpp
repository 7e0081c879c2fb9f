// What a checkpoint of a large state takes from the training thread, for every way to take one: the time that
// the call keeps it (stall), and what the iterations behind it take longer until the checkpoint is on disk
// (page faults after a fork, interference). Each iteration writes the whole state.
//
//   materialize [--mib 1100] [--rounds 5] [--directory DIR] [--json FILE]
//   materialize --objects 600 [--kib 256] …       total time of many small checkpoints, by size of the batch
//
// All ways take turns within a round; medians and quartiles over the rounds.
#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "core/durable.h"
#include "core/json.h"
#include "core/materialize/materializer.h"
#include "core/materialize/staging.h"
#include "core/session.h"

namespace {

using flor::core::Buffer;
using flor::core::Json;
using flor::core::Materialized;
using flor::core::Materializer;
using flor::core::monotonic_seconds;
using flor::core::Staging;
namespace fs = std::filesystem;

using Tensors = std::vector<at::Tensor>;

void write_file(const fs::path& path, const void* bytes, std::size_t size) {
  flor::core::DurableFile file(path);
  file.write(bytes, size);
  file.commit();
}

std::size_t bytes_of(const Tensors& state) {
  std::size_t bytes = 0;
  for (const auto& tensor : state) bytes += tensor.nbytes();
  return bytes;
}

// A way to take a checkpoint.
class Way {
 public:
  virtual ~Way() = default;
  virtual void take(const Tensors& state, int number) = 0;
  virtual bool busy() { return false; }
  virtual void finish() {}
};

class Memcpy : public Way {
 public:
  void take(const Tensors& state, int) override {
    unsigned char* at = staging_.require(bytes_of(state));
    for (const auto& tensor : state) {
      std::memcpy(at, tensor.data_ptr(), tensor.nbytes());
      at += tensor.nbytes();
    }
  }

 private:
  Staging staging_;
};

class TorchSave : public Way {
 public:
  explicit TorchSave(fs::path directory) : directory_(std::move(directory)) {}
  void take(const Tensors& state, int number) override {
    const fs::path path = directory_ / ("torch-save-" + std::to_string(number));
    torch::save(state, path.string());
    const int fd = ::open(path.c_str(), O_RDONLY);
    ::fsync(fd);
    ::close(fd);
  }

 private:
  const fs::path directory_;
};

// Another process that writes what it is told of through a pipe: the bytes themselves, or that they lie in
// shared memory. A byte comes back when they are on disk.
class OtherProcess : public Way {
 public:
  OtherProcess(fs::path directory, std::size_t shared_bytes) : shared_bytes_(shared_bytes) {
    if (shared_bytes > 0) {
      shared_ = ::mmap(nullptr, shared_bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    }
    if (::pipe(there_) != 0 || ::pipe(back_) != 0) throw std::runtime_error("no pipe");
    child_ = ::fork();
    if (child_ == 0) {
      ::close(there_[1]);
      ::close(back_[0]);
      serve(directory);
      ::_exit(0);
    }
    ::close(there_[0]);
    ::close(back_[1]);
    ::fcntl(there_[1], F_SETPIPE_SZ, 1 << 20);
    ::fcntl(back_[0], F_SETFL, O_NONBLOCK);
  }
  ~OtherProcess() override {
    ::close(there_[1]);
    ::close(back_[0]);
    ::waitpid(child_, nullptr, 0);
    if (shared_ != nullptr) ::munmap(shared_, shared_bytes_);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  void take(const Tensors& state, int) override {
    std::uint64_t size = bytes_of(state);
    std::string serialized;
    if (shared_ != nullptr) {
      auto* at = static_cast<unsigned char*>(shared_);
      for (const auto& tensor : state) {
        std::memcpy(at, tensor.data_ptr(), tensor.nbytes());
        at += tensor.nbytes();
      }
      put(&size, sizeof size);
    } else {
      std::ostringstream out;
      torch::save(state, out);
      serialized = out.str();
      size = serialized.size();
      put(&size, sizeof size);
      put(serialized.data(), serialized.size());
    }
    pending_ = true;
  }
  bool busy() override {
    char byte = 0;
    if (pending_ && ::read(back_[0], &byte, 1) == 1) pending_ = false;
    return pending_;
  }
  void finish() override {
    while (busy()) ::usleep(1000);
  }

 private:
  void put(const void* bytes, std::size_t size) {
    const char* at = static_cast<const char*>(bytes);
    while (size > 0) {
      const ssize_t written = ::write(there_[1], at, size);
      if (written <= 0) throw std::runtime_error("the other process is gone");
      at += written;
      size -= static_cast<std::size_t>(written);
    }
  }
  void serve(const fs::path& directory) {
    std::uint64_t size = 0;
    std::vector<char> buffer;
    for (int number = 0; ::read(there_[0], &size, sizeof size) == sizeof size; ++number) {
      const void* bytes = shared_;
      if (shared_ == nullptr) {
        buffer.resize(size);
        for (std::size_t got = 0; got < size;)
          got += static_cast<std::size_t>(::read(there_[0], &buffer[got], size - got));
        bytes = buffer.data();
      }
      write_file(directory / ("other-" + std::to_string(number)), bytes, size);
      (void)!::write(back_[1], "", 1);
    }
  }

  int there_[2] = {-1, -1}, back_[2] = {-1, -1};
  pid_t child_ = 0;
  void* shared_ = nullptr;
  const std::size_t shared_bytes_;
  bool pending_ = false;
};

class Flor : public Way {
 public:
  // `marked`: as a program's state is, so that it is looked at what changed: all of it.
  explicit Flor(std::unique_ptr<Materializer> materializer, bool marked = false)
      : materializer_(std::move(materializer)), marked_(marked) {}
  void take(const Tensors& state, int number) override {
    std::vector<Buffer> live;
    for (std::size_t i = 0; i < state.size(); ++i) {
      Buffer buffer;
      buffer.name = std::to_string(i);
      buffer.dtype = "F32";
      buffer.shape = state[i].sizes().vec();
      buffer.bytes = state[i].nbytes();
      buffer.data = state[i].data_ptr();
      if (marked_) {
        buffer.mark = flor::core::Mark{{reinterpret_cast<std::uint64_t>(buffer.data), 0, 0, 0},
                                       static_cast<std::uint64_t>(state[i]._version()),
                                       anchor_};
      }
      live.push_back(std::move(buffer));
    }
    if (marked_) materializer_->to_copy(live);  // as the policy asks before it decides
    const std::string stem = "epoch=" + std::to_string(number);
    const std::string error =
        materializer_->materialize({"state",
                                    stem + "/state#0",
                                    flor::core::RunDir::checkpoint_file("state", stem).string(),
                                    {},
                                    [](const Materialized& m) {
                                      if (!m.error.empty()) std::cerr << m.error << "\n";
                                    }},
                                   live);
    if (!error.empty()) throw std::runtime_error(error);
  }
  bool busy() override { return materializer_->busy(); }
  void finish() override { materializer_->drain(); }

 private:
  std::unique_ptr<Materializer> materializer_;
  const bool marked_;
  const std::shared_ptr<int> anchor_ = std::make_shared<int>(0);
};

struct Asked {
  std::size_t mib = 1100, kib = 256;
  int rounds = 5, objects = 0;
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

Json large_state(const Asked& asked, const fs::path& directory) {
  constexpr std::size_t part = 25;
  Tensors state;
  for (std::size_t i = 0; i < asked.mib / part; ++i)
    state.push_back(torch::ones({static_cast<int64_t>(part << 18)}));
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
      for (const auto& entry : fs::recursive_directory_iterator(directory / std::to_string(w))) {
        if (entry.is_regular_file()) fs::remove(entry.path());
      }
    }
  }
  // The last one first: a process that was started later holds the ends of its predecessors' pipes.
  while (!open.empty()) open.pop_back();
  return report(ways, lost);
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
  app.add_option("--directory", asked.directory);
  app.add_option("--json", asked.json);
  CLI11_PARSE(app, argc, argv);
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  std::string name =
      (asked.directory.empty() ? fs::temp_directory_path() : fs::path(asked.directory)) / "flor-bench-XXXXXX";
  const fs::path directory = ::mkdtemp(name.data());
  const Json result = asked.objects > 0 ? many_objects(asked, directory) : large_state(asked, directory);
  fs::remove_all(directory);
  if (!asked.json.empty()) std::ofstream(asked.json) << result.dump(1) << "\n";
  return 0;
} catch (const std::exception& problem) {
  std::cerr << "materialize: " << problem.what() << "\n";
  return 1;
}
