#include "core/store/generators.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/base/digest.h"
#include "core/base/error.h"

namespace flor::core {
namespace {

constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string key_of(const std::string& at, const std::string& edge) {
  return edge + ' ' + at;
}

}  // namespace

std::string base64(const std::string& bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = (group << 8) | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += j <= count ? alphabet[(group >> (18 - 6 * j)) & 63U] : '=';
    }
  }
  return out;
}

std::string from_base64(const std::string& text) {
  std::string out;
  std::uint32_t group = 0;
  int bits = 0;
  for (char c : text) {
    if (c == '=') break;
    const std::size_t value = std::string_view(alphabet, 64).find(c);
    if (value == std::string_view::npos) throw Error("not base64");
    group = (group << 6) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>((group >> bits) & 255U);
    }
  }
  return out;
}

std::vector<std::string> GeneratorWriter::lines(const std::string& at, const char* edge,
                                                const GeneratorStates& states) {
  std::vector<std::string> out;
  Json row = {{"at", at}, {"edge", edge}};
  for (const auto& [name, bytes] : states) {
    const std::string digest = digest_of(bytes);
    if (known_.insert(digest).second) {
      out.push_back(Json({{"digest", digest}, {"bytes", base64(bytes)}}).dump());
    }
    row[name] = digest;
  }
  out.push_back(row.dump());
  return out;
}

GeneratorLog::GeneratorLog(const std::vector<Json>& rows, const std::string& file) {
  std::unordered_map<std::string, std::string> bytes;
  for (const auto& row : rows) {
    if (row.contains("bytes")) {
      const auto digest = field<std::string>(row, "digest", "");
      std::string state = from_base64(field<std::string>(row, "bytes", ""));
      if (digest_of(state) != digest) throw Error(file + ": generator state " + digest + " is damaged");
      bytes[digest] = std::move(state);
      continue;
    }
    GeneratorStates states;
    bool are_all = true;
    for (const auto& [name, value] : row.items()) {
      if (name == "at" || name == "edge" || !value.is_string()) continue;
      auto known = bytes.find(value.get<std::string>());
      are_all = are_all && known != bytes.end();
      if (are_all) states[name] = known->second;
    }
    if (are_all)
      states_[key_of(field<std::string>(row, "at", ""), field<std::string>(row, "edge", ""))] =
          std::move(states);
  }
}

const GeneratorStates* GeneratorLog::at(const std::string& at, const char* edge) const {
  auto found = states_.find(key_of(at, edge));
  return found == states_.end() ? nullptr : &found->second;
}

}  // namespace flor::core
