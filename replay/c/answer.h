// What the calls of a front end get and give, on this side of the C interface.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/buffers.h"
#include "flor/c.h"

struct flor_answer {
  std::vector<flor::core::Buffer> buffers;
  std::map<std::string, std::string> texts;
  std::optional<std::string> failure;
  bool lacks_memory = false;
  bool is_done = false;
};

struct flor_texts {
  std::vector<std::pair<std::string, std::string>> entries;
};

struct flor_tensors {
  explicit flor_tensors(const flor::core::LoadedTensors& loaded) : entries(loaded.begin(), loaded.end()) {}

  std::vector<std::pair<std::string, flor::core::LoadedTensor>> entries;
};
