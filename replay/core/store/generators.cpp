#include "core/store/generators.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/files/json_lines.h"

namespace flor::core {
namespace {

constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// By character: its value; 64 for none.
std::array<unsigned char, 256> values_of_characters() {
  std::array<unsigned char, 256> out{};
  out.fill(64);
  for (unsigned char value = 0; value < 64; ++value) out[static_cast<unsigned char>(alphabet[value])] = value;
  return out;
}

unsigned half_byte(char digit) {
  return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

// Of a digest's 32 digits.
StateId id_of(std::string_view digits) {
  StateId out{};
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<unsigned char>(half_byte(digits[2 * i]) << 4 | half_byte(digits[2 * i + 1]));
  return out;
}

std::string hex_of(const StateId& id) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : id) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

StateId place_id(const std::string& at, const std::string& edge) {
  return id_of(digest_of(edge + ' ' + at));
}

// The line of a state. Both parts lie in the line, or in `row`.
struct StateLine {
  std::string_view digest, bytes;
};

constexpr std::string_view opening = "{\"digest\":\"", between = "\",\"bytes\":\"", closing = "\"}";

// Nothing in it needs to be escaped.
std::string state_line(const std::string& digest, const std::string& bytes) {
  std::string out;
  out.reserve(opening.size() + digest.size() + between.size() + bytes.size() + closing.size());
  return out.append(opening).append(digest).append(between).append(bytes).append(closing);
}

// Reads a line as GeneratorWriter writes it: no parser is needed for most of the file.
std::optional<StateLine> state_in(std::string_view line) {
  constexpr std::size_t head = opening.size() + 32 + between.size();
  if (line.size() < head + closing.size() || line.substr(0, opening.size()) != opening ||
      line.substr(opening.size() + 32, between.size()) != between ||
      line.substr(line.size() - closing.size()) != closing)
    return std::nullopt;
  const StateLine out{line.substr(opening.size(), 32),
                      line.substr(head, line.size() - head - closing.size())};
  if (!is_digest(out.digest) || out.bytes.find_first_of("\"\\") != std::string_view::npos)
    return std::nullopt;
  return out;
}

using TakeState = std::function<void(const StateLine&)>;
using TakePlace = std::function<void(const Json&)>;

void take_row(const Json& row, const TakeState& take_state, const TakePlace& take_place) {
  const auto bytes = row.find("bytes");
  if (bytes == row.end()) return take_place(row);
  const auto digest = field<std::string>(row, "digest", ""), text = field<std::string>(row, "bytes", "");
  take_state({digest, text});
}

void read_states(const std::filesystem::path& path, const TakeState& take_state,
                 const TakePlace& take_place) {
  for_each_line_of(path, [&](std::string_view line) {
    if (const auto state = state_in(line)) {
      take_state(*state);
      return true;
    }
    const Json row = parse_json(line);
    if (!row.is_object()) return false;
    take_row(row, take_state, take_place);
    return true;
  });
}

std::string verified(const StateLine& line, const std::string& file) {
  std::string state = from_base64(line.bytes);
  if (digest_of(state) != line.digest)
    throw Error(file + ": generator state " + std::string(line.digest) + " is damaged");
  return state;
}

}  // namespace

std::size_t StateIdHash::operator()(const StateId& id) const noexcept {
  std::size_t out = 0;
  std::memcpy(&out, id.data(), sizeof(out));
  return out;
}

std::string base64(const std::string& bytes) {
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
  };
  std::size_t to = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j <= count; ++j) out[to + j] = alphabet[(group >> (18 - 6 * j)) & 63U];
    to += 4;
  }
  return out;
}

std::string from_base64(std::string_view text) {
  static const auto values = values_of_characters();
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    const unsigned char value = values[static_cast<unsigned char>(c)];
    if (value == 64) throw Error("not base64");
    group = (group << 6) | value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>((group >> bits) & 255U);
    }
  }
  return out;
}

GeneratorWriter::GeneratorWriter(const std::filesystem::path& earlier) {
  const auto take = [this](const StateLine& line) {
    if (is_digest(line.digest)) known_.insert(id_of(line.digest));
  };
  read_states(earlier, take, [](const Json&) {});
  std::error_code ignored;
  const auto size = std::filesystem::file_size(earlier, ignored);
  if (!ignored) written_ = static_cast<std::size_t>(size);
}

std::vector<std::string> GeneratorWriter::lines(const std::string& at, const char* edge,
                                                const GeneratorStates& states, bool is_needed,
                                                bool is_short) {
  std::vector<std::string> out;
  Json row = {{"at", at}, {"edge", edge}};
  const bool writes = is_needed || (written_ < most_written && !is_short);
  for (const auto& [name, bytes] : states) {
    const std::string digest = digest_of(bytes);
    if (writes && known_.insert(id_of(digest)).second) out.push_back(state_line(digest, base64(bytes)));
    row[name] = digest;
  }
  out.push_back(row.dump());
  for (const auto& line : out) written_ += line.size() + 1;
  return out;
}

GeneratorLog::GeneratorLog(const std::filesystem::path& path, const Wanted& wanted) {
  const auto hold = [&](const StateLine& line) { hold_state(verified(line, path.string()), line.digest); };
  if (!wanted) {
    read_states(path, hold, [this](const Json& row) { add_place(row); });
    return;
  }
  read_states(
      path, [](const StateLine&) {},
      [&](const Json& row) {
        if (wanted(field<std::string>(row, "at", ""))) add_place(row);
      });
  // Only now it is known which states are named.
  std::unordered_set<StateId, StateIdHash> ids;
  for (const auto& named : named_) ids.insert(named.state);
  if (ids.empty()) return;
  read_states(
      path,
      [&](const StateLine& line) {
        if (is_digest(line.digest) && ids.count(id_of(line.digest)) != 0) hold(line);
      },
      [](const Json&) {});
}

GeneratorLog::GeneratorLog(const std::vector<Json>& rows, const std::string& file) {
  for (const auto& row : rows) {
    take_row(
        row, [&](const StateLine& line) { hold_state(verified(line, file), line.digest); },
        [this](const Json& place) { add_place(place); });
  }
}

void GeneratorLog::verify(const std::filesystem::path& path) {
  read_states(
      path, [&](const StateLine& line) { verified(line, path.string()); }, [](const Json&) {});
}

void GeneratorLog::hold_state(std::string state, std::string_view digest) {
  states_[id_of(digest)] = std::move(state);
}

void GeneratorLog::add_place(const Json& row) {
  Range range{static_cast<std::uint32_t>(named_.size()), 0};
  for (const auto& [name, value] : row.items()) {
    if (name == "at" || name == "edge" || !value.is_string()) continue;
    const auto digest = value.get<std::string>();
    if (!is_digest(digest)) return;
    const auto known = std::find(generators_.begin(), generators_.end(), name);
    const auto generator = static_cast<std::uint32_t>(known - generators_.begin());
    if (known == generators_.end()) generators_.push_back(name);
    named_.push_back({generator, id_of(digest)});
    ++range.count;
  }
  places_[place_id(field<std::string>(row, "at", ""), field<std::string>(row, "edge", ""))] = range;
}

const GeneratorLog::Range* GeneratorLog::place(const std::string& at, const char* edge) const {
  const auto found = places_.find(place_id(at, edge));
  return found == places_.end() ? nullptr : &found->second;
}

std::optional<GeneratorStates> GeneratorLog::at(const std::string& at, const char* edge) const {
  const Range* range = place(at, edge);
  if (range == nullptr) return std::nullopt;
  GeneratorStates out;
  for (std::uint32_t i = range->first; i < range->first + range->count; ++i) {
    const auto state = states_.find(named_[i].state);
    if (state == states_.end()) return std::nullopt;
    out[generators_[named_[i].generator]] = state->second;
  }
  return out;
}

std::optional<GeneratorLog::Difference> GeneratorLog::difference(const std::string& at, const char* edge,
                                                                 const GeneratorStates& present) const {
  const Range* range = place(at, edge);
  if (range == nullptr) return std::nullopt;
  for (std::uint32_t i = range->first; i < range->first + range->count; ++i) {
    const std::string& name = generators_[named_[i].generator];
    const auto here = present.find(name);
    if (here == present.end()) continue;
    const std::string recorded = hex_of(named_[i].state), now = digest_of(here->second);
    if (recorded != now) return Difference{name + ' ' + recorded, name + ' ' + now};
  }
  return std::nullopt;
}

}  // namespace flor::core
