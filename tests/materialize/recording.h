// What the tests of the materializers share: buffers, and a materializer at work in a run of its own.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/reader.h"
#include "core/materialize/materializer.h"
#include "support/temporary.h"

namespace flor::test {

// A tensor of a program: values, and a hint that moves only when the program says so.
struct Tensor {
  explicit Tensor(std::size_t size, float value = 0.5F) : values(size, value) {}
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  core::Buffer buffer(const std::string& name) const {
    core::Buffer buffer;
    buffer.name = name;
    buffer.dtype = "F32";
    buffer.shape = {static_cast<int64_t>(values.size())};
    buffer.bytes = values.size() * sizeof(float);
    buffer.data = values.data();
    if (has_mark)
      buffer.hint =
          core::ChangeHint{{reinterpret_cast<std::uint64_t>(values.data()), 0, 0, 0}, version, anchor};
    return buffer;
  }
  void write(float value) {  // as an operator of LibTorch does
    write_silently(value);
    version += 1;
  }
  void write_silently(float value) { std::fill(values.begin(), values.end(), value); }  // as `.data` does
  // Between the samples that are compared of a trusted one.
  static constexpr std::size_t unsampled = 1000;
  void write_one_silently(float value) { values[unsampled] = value; }

  std::vector<float> values;
  bool has_mark = true;
  std::uint64_t version = 0;
  std::shared_ptr<int> anchor = std::make_shared<int>(0);
};

class Recording {
 public:
  explicit Recording(const std::string& materializer, const core::fs::path& local = {})
      : dir{directory_.path()},
        materializer_(core::make_materializer(materializer, core::Tiers(dir, local))) {}

  core::Materializer& materializer() { return *materializer_; }

  // Begins a checkpoint of the epoch; its result is there after drain().
  std::string begin(int epoch, const std::vector<core::Buffer>& live, std::function<void()> before = {}) {
    const std::string stem = "epoch=" + std::to_string(epoch);
    const std::string file = core::RunDir::checkpoint_file("train", stem).string();
    const auto error = materializer_->materialize({"train", stem + "/train#0", file, std::move(before),
                                                   [this](const core::Materialized& m) {
                                                     const std::lock_guard<std::mutex> lock(mutex_);
                                                     results_.push_back(m);
                                                   }},
                                                  live);
    EXPECT_EQ(error, "");
    return file;
  }

  // A checkpoint that is durable when it returns.
  core::Materialized take(int epoch, const std::vector<core::Buffer>& live) {
    begin(epoch, live);
    materializer_->drain();
    return last();
  }

  core::Materialized last() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return results_.empty() ? core::Materialized{} : results_.back();
  }
  std::size_t results() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return results_.size();
  }

  static std::string file(int epoch) {
    return core::RunDir::checkpoint_file("train", "epoch=" + std::to_string(epoch)).string();
  }
  std::vector<float> values(int epoch, const std::string& name) const {
    const auto checkpoint = core::Checkpoint::load(dir, file(epoch));
    const auto& tensor = checkpoint.tensors().at(name);
    std::vector<float> out(tensor.bytes / sizeof(float));
    std::memcpy(out.data(), tensor.data, tensor.bytes);
    return out;
  }

 private:
  TemporaryDirectory directory_;

 public:
  const core::RunDir dir;

 private:
  std::mutex mutex_;
  std::vector<core::Materialized> results_;
  std::unique_ptr<core::Materializer> materializer_;  // last: it uses what is above
};

}  // namespace flor::test
