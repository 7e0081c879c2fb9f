// Ways to take a checkpoint of tensors: flor's materializers, and what they are compared with.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/files/durable.h"
#include "core/materialize/materializer.h"
#include "core/materialize/staging.h"
#include "core/store/store.h"

namespace bench {

namespace fs = std::filesystem;

using Tensors = std::vector<at::Tensor>;

inline void write_file(const fs::path& path, const void* bytes, std::size_t size) {
  flor::core::DurableFile file(path);
  file.write(bytes, size);
  file.commit();
}

inline std::size_t bytes_of(const Tensors& state) {
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
  flor::core::Staging staging_;
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
  OtherProcess(const fs::path& directory, std::size_t shared_bytes) : shared_bytes_(shared_bytes) {
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
  explicit Flor(std::unique_ptr<flor::core::Materializer> materializer, bool marked = false)
      : materializer_(std::move(materializer)), marked_(marked) {}
  void take(const Tensors& state, int number) override {
    std::vector<flor::core::Buffer> live;
    for (std::size_t i = 0; i < state.size(); ++i) {
      flor::core::Buffer buffer;
      buffer.name = std::to_string(i);
      buffer.dtype = "F32";
      buffer.shape = state[i].sizes().vec();
      buffer.bytes = state[i].nbytes();
      buffer.data = state[i].data_ptr();
      if (marked_) {
        buffer.hint = flor::core::ChangeHint{{reinterpret_cast<std::uint64_t>(buffer.data), 0, 0, 0},
                                             static_cast<std::uint64_t>(state[i]._version()),
                                             anchor_};
      }
      live.push_back(std::move(buffer));
    }
    if (marked_) {  // as the policy asks before it decides
      const double begun = flor::core::monotonic_seconds();
      materializer_->to_copy(live);
      looked_ = flor::core::monotonic_seconds() - begun;
    }
    const std::string stem = "epoch=" + std::to_string(number);
    const std::string error =
        materializer_->materialize({"state",
                                    stem + "/state#0",
                                    flor::core::RunDir::checkpoint_file("state", stem).string(),
                                    {},
                                    [](const flor::core::Materialized& m) {
                                      if (!m.error.empty()) std::cerr << m.error << "\n";
                                    }},
                                   live);
    if (!error.empty()) throw std::runtime_error(error);
  }
  bool busy() override { return materializer_->busy(); }
  void finish() override { materializer_->drain(); }
  double looked() const { return looked_; }  // seconds that the last look at what changed took

 private:
  std::unique_ptr<flor::core::Materializer> materializer_;
  const bool marked_;
  double looked_ = 0;
  const std::shared_ptr<int> anchor_ = std::make_shared<int>(0);
};

}  // namespace bench
