// Stores the texts of tokens, each once: a word that a program uses a thousand times is stored once.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace flor::probes {

struct KeptText {
  std::string text;
  // Equal texts have equal hashes, in every Texts.
  uint64_t hash;
  // Its position in its Texts.
  size_t id;
};

// A reference to a text in a Texts, which must outlive it. Cheap to copy. Compares by content.
class Text {
 public:
  Text() = default;
  explicit Text(const KeptText& kept) : kept_(&kept) {}

  [[nodiscard]] const std::string& str() const { return kept_->text; }
  [[nodiscard]] uint64_t hash() const { return kept_->hash; }
  [[nodiscard]] size_t id() const { return kept_->id; }
  // Inline, so that the length of a literal is a constant: this is the hottest call of the parser.
  [[nodiscard]] bool is(std::string_view text) const {
    const std::string& own = kept_->text;
    return own.size() == text.size() && std::memcmp(own.data(), text.data(), text.size()) == 0;
  }
  operator const std::string&() const { return kept_->text; }  // NOLINT(google-explicit-constructor)

  friend bool operator==(Text a, Text b) {
    return a.kept_ == b.kept_ || (a.hash() == b.hash() && a.str() == b.str());
  }
  friend bool operator!=(Text a, Text b) { return !(a == b); }
  friend bool operator==(Text a, std::string_view b) { return a.is(b); }
  friend bool operator!=(Text a, std::string_view b) { return !a.is(b); }
  friend bool operator==(Text a, const char* b) { return a.is(b); }
  friend bool operator!=(Text a, const char* b) { return !a.is(b); }
  friend std::string operator+(std::string a, Text b) { return a += b.str(); }

 private:
  const KeptText* kept_ = nullptr;
};

class Texts {
 public:
  Texts() : slots_(1024) {}
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;

  Text keep(std::string_view text);
  [[nodiscard]] size_t size() const { return all_.size(); }

 private:
  void grow();
  const KeptText& add(std::string_view text, uint64_t hash);

  // A deque: elements never move.
  std::deque<KeptText> all_;
  // A hash table with open addressing, at most half full.
  std::vector<const KeptText*> slots_;
  // Texts of one byte: half of all tokens.
  std::array<const KeptText*, 256> single_{};
};

}  // namespace flor::probes
