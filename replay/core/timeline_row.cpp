#include "core/timeline_row.h"

namespace flor::core {
namespace {

// Reads the simplest form of an object, in which this library writes rows: no white space between tokens, and
// strings of ASCII without escapes. Whatever else there is, is for the JSON library to read.
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
  // To the bracket that closes it.
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
  // Whatever stands in a value: as escapes, which the fields are read through the JSON library for.
  for (const auto& [key, value] : object.items()) {
    Field field;
    field.key = static_cast<std::uint32_t>(text_.size());
    text_ += key;
    field.value = static_cast<std::uint32_t>(text_.size());
    text_ += text_of(value);
    field.key_size = field.value - field.key;
    field.value_size = static_cast<std::uint32_t>(text_.size()) - field.value;
    fields_.push_back(field);
  }
}

std::string TimelineRow::text_of(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::optional<TimelineRow> TimelineRow::parse(std::string_view text) {
  TimelineRow row{std::string(text)};
  if (row.scan()) return row;
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  return TimelineRow(object);
}

bool TimelineRow::scan() {
  thread_local std::vector<Field> fields;  // so that each row takes what it needs, once
  fields.clear();
  Scanner scanner(text_);
  if (!scanner.skip('{')) return false;
  do {
    Field field;
    field.key = static_cast<std::uint32_t>(scanner.at() + 1);
    if (!scanner.string()) return false;
    field.key_size = static_cast<std::uint32_t>(scanner.at() - 1) - field.key;
    if (!scanner.skip(':')) return false;
    field.value = static_cast<std::uint32_t>(scanner.at());
    if (!scanner.value()) return false;
    field.value_size = static_cast<std::uint32_t>(scanner.at()) - field.value;
    fields.push_back(field);
  } while (scanner.skip(','));
  if (!scanner.skip('}') || !scanner.at_end()) return false;
  fields_ = fields;
  return true;
}

std::string_view TimelineRow::raw(std::string_view key) const {
  const std::string_view text = text_;
  std::string_view found;
  // To the end: of a key that stands there twice the last one counts, as in the JSON library.
  for (const auto& field : fields_) {
    if (field.key_size == key.size() && text[field.key] == key.front() &&
        text.compare(field.key, key.size(), key) == 0) {
      found = text.substr(field.value, field.value_size);
    }
  }
  return found;
}

}  // namespace flor::core
