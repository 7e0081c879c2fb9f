#include "core/store/timeline_row.h"

namespace flor::core {
namespace {

// A longer row that only the JSON library can read is taken as none. Read, it would take ten times the memory
// of its text, and another user may have written it.
constexpr std::size_t longest_json_row = std::size_t{16} << 20;

// Scans the simple form of an object in which this library writes rows: no white space between tokens, and
// strings of ASCII without escapes. The JSON library reads any other form.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  bool at_end() const { return at_ == text_.size(); }
  bool skip(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool value() {
    if (at_end()) return false;
    switch (text_[at_]) {
      case '"':
        return string();
      case '{':
      case '[':
        return nested();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }
  bool string() {
    if (!skip('"')) return false;
    for (; at_ < text_.size(); ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') return skip('"');
      if (c < 0x20 || c >= 0x80 || c == '\\') return false;
    }
    return false;
  }

 private:
  bool word(std::string_view word) {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  bool digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > begin;
  }
  bool number() {
    skip('-');
    if (!skip('0') && !digits()) return false;
    if (skip('.') && !digits()) return false;
    if (!skip('e') && !skip('E')) return true;
    if (!skip('+')) skip('-');
    return digits();
  }
  // Scans to the closing bracket.
  bool nested() {
    const std::size_t begin = at_;
    int depth = 0;
    do {
      if (at_end()) return false;
      const char c = text_[at_];
      if (c == '"') {
        if (!string()) return false;
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    } while (depth > 0);
    return Json::accept(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

TimelineRow::TimelineRow(const Json& object) {
  // text_of() escapes whatever a value holds. Such fields are then read through the JSON library.
  auto text = std::make_shared<std::string>();
  for (const auto& [key, value] : object.items()) {
    *text += text->empty() ? R"({")" : R"(,")";
    keys_.push_back({static_cast<std::uint32_t>(text->size()), static_cast<std::uint32_t>(key.size())});
    *text += key + R"(":)" + text_of(value);
  }
  *text += '}';
  line_ = *text;
  text_ = std::move(text);
}

std::string TimelineRow::text_of(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::optional<TimelineRow> TimelineRow::parse(std::shared_ptr<const std::string> text,
                                              std::string_view line) {
  TimelineRow row(std::move(text), line);
  if (row.scan()) return row;
  if (line.size() > longest_json_row) return std::nullopt;
  const Json object = parse_json(line);
  if (!object.is_object()) return std::nullopt;
  return TimelineRow(object);
}

std::optional<TimelineRow> TimelineRow::parse_simple(std::string_view line) {
  TimelineRow row(nullptr, line);
  if (!row.scan()) return std::nullopt;
  return row;
}

bool TimelineRow::scan() {
  // Reused, so that each row allocates its keys once, at the right size.
  thread_local std::vector<Key> keys;
  keys.clear();
  Scanner scanner(line_);
  if (!scanner.skip('{')) return false;
  do {
    const std::size_t key = scanner.at() + 1;
    if (!scanner.string()) return false;
    keys.push_back({static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(scanner.at() - 1 - key)});
    if (!scanner.skip(':') || !scanner.value()) return false;
  } while (scanner.skip(','));
  if (!scanner.skip('}') || !scanner.at_end()) return false;
  keys_ = keys;
  return true;
}

std::string_view TimelineRow::value(std::size_t field) const {
  const std::size_t begin = keys_[field].at + keys_[field].size + 2;
  const std::size_t end = field + 1 < keys_.size() ? keys_[field + 1].at - 2 : line_.size() - 1;
  return line_.substr(begin, end - begin);
}

std::string_view TimelineRow::raw(std::string_view key) const {
  // Searches from the end: the last of equal keys counts, as in the JSON library.
  for (std::size_t i = keys_.size(); i-- > 0;) {
    if (keys_[i].size == key.size() && line_.compare(keys_[i].at, key.size(), key) == 0) return value(i);
  }
  return {};
}

}  // namespace flor::core
