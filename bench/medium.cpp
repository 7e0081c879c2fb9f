// How near checkpoints come to what the medium gives; run by bench/medium.py, which runs fio beside it.
//
//   medium write DIRECTORY MIB      one checkpoint of a large state: how, and in how many seconds it is
//   durable medium read DIRECTORY MIB       its verified restore into memory, and a plain read of the same
//   file by two
//                                   threads, both from the page cache, in turns
//
// One JSON object on stdout.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <mutex>
#include <thread>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/checkpoint/restorer.h"
#include "core/materialize/materializer.h"

namespace {

using namespace flor::core;  // NOLINT: a program, no header

constexpr std::size_t part = std::size_t{16} << 20;

// A state of named float tensors.
class Tensors : public State {
 public:
  explicit Tensors(std::size_t mib) {
    for (std::size_t i = 0; i < (mib << 20) / part; ++i) tensors_.emplace_back(part / sizeof(float), 1.0F);
  }
  void change() {
    for (auto& tensor : tensors_) {
      for (std::size_t i = 0; i < tensor.size(); ++i) tensor[i] += static_cast<float>(i % 1013) * 1e-3F;
    }
  }
  std::vector<Buffer> save() override {
    std::vector<Buffer> live;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      Buffer buffer;
      buffer.name = std::to_string(i);
      buffer.dtype = "F32";
      buffer.shape = {static_cast<int64_t>(tensors_[i].size())};
      buffer.bytes = part;
      buffer.data = tensors_[i].data();
      live.push_back(std::move(buffer));
    }
    return live;
  }
  std::optional<std::string> misfit(const LoadedTensors&) override { return std::nullopt; }
  std::optional<std::string> restore(const LoadedTensors& loaded) override {
    copy_in_parallel(loaded);
    return std::nullopt;
  }

 private:
  void copy_in_parallel(const LoadedTensors& loaded) {
    std::vector<std::thread> threads;
    for (std::size_t half = 0; half < 2; ++half) {
      threads.emplace_back([&, half] {
        for (std::size_t i = half; i < tensors_.size(); i += 2) {
          const auto& from = loaded.at(std::to_string(i));
          if (from.data != nullptr) std::memcpy(tensors_[i].data(), from.data, from.bytes);
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }
  std::vector<std::vector<float>> tensors_;
};

constexpr const char* at = "epoch=0/train#0";
const std::string file = RunDir::checkpoint_file("train", "epoch=0").string();

Materialized take(const RunDir& run, Tensors& tensors) {
  Materialized result;
  const auto materializer = make_thread_materializer(run);
  const std::string error = materializer->materialize(
      {"train", at, file, {}, [&](const Materialized& m) { result = m; }}, tensors.save());
  materializer->drain();
  if (!error.empty() || !result.error.empty()) throw Error(error + result.error);
  return result;
}

double plain_read(const fs::path& path, std::size_t bytes, unsigned char* memory) {
  const double begun = monotonic_seconds();
  const std::size_t half = bytes / 2 / part * part;
  auto read = [&](std::size_t begin, std::size_t end) {
    const int fd = ::open(path.c_str(), O_RDONLY);
    for (std::size_t offset = begin; offset < end;) {
      const ssize_t got = ::pread(fd, memory + offset, std::min(std::size_t{1} << 20, end - offset),
                                  static_cast<off_t>(offset));
      if (got <= 0) break;
      offset += static_cast<std::size_t>(got);
    }
    ::close(fd);
  };
  std::thread other(read, half, bytes);
  read(0, half);
  other.join();
  return monotonic_seconds() - begun;
}

Json read(const RunDir& run, Tensors& tensors) {
  const Materialized written = take(run, tensors);
  const std::size_t size = fs::file_size(run.path / file);
  std::vector<unsigned char> memory(size);
  std::vector<double> restored;
  std::vector<double> plain;
  for (int round = 0; round < 8; ++round) {
    const double raw = plain_read(run.path / file, size, memory.data());
    tensors.change();
    Restorer restorer(run);  // a new one: it knows nothing of what the objects hold
    const double begun = monotonic_seconds();
    restorer.restore({file, written.state}, at, tensors, Restorer::OnDamage::spoil);
    const double seconds = monotonic_seconds() - begun;
    if (round == 0) continue;  // the page cache was cold
    plain.push_back(raw);
    restored.push_back(seconds);
  }
  return {{"bytes", size}, {"plain", plain}, {"restore", restored}};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) throw UsageError("usage: medium write|read DIRECTORY MIB");
  const std::string what = argv[1];
  const std::size_t mib = std::stoull(argv[3]);
  std::string name = std::string(argv[2]) + "/flor-medium-XXXXXX";
  const RunDir run{::mkdtemp(name.data())};
  Tensors tensors(mib);
  tensors.change();
  Json out;
  if (what == "write") {
    const Materialized result = take(run, tensors);
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    out = {{"bytes", result.written},
           {"seconds", result.write},
           {"engine", result.engine},
           {"resident_kib", usage.ru_maxrss}};
  } else {
    out = read(run, tensors);
  }
  fs::remove_all(run.path);
  std::cout << out.dump() << "\n";
  return 0;
} catch (const std::exception& problem) {
  std::cerr << "medium: " << problem.what() << "\n";
  return 1;
}
