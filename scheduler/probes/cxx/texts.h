// The texts of tokens, each kept once: a word that stands in a program a thousand times is one text.
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
  uint64_t hash;  // equal texts have equal hashes, in every Texts
  size_t id;      // its position in its Texts
};

// A text in a Texts, which must outlive it. Copied like a pointer; compares by what it says.
class Text {
 public:
  Text() = default;
  explicit Text(const KeptText& kept) : kept_(&kept) {}

  [[nodiscard]] const std::string& str() const { return kept_->text; }
  [[nodiscard]] uint64_t hash() const { return kept_->hash; }
  [[nodiscard]] size_t id() const { return kept_->id; }
  // Inline, so that the length of a literal is a constant: most of what a reader does is this.
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

  std::deque<KeptText> all_;                   // they stay where they are
  std::vector<const KeptText*> slots_;         // a hash table with open addressing, at most half full
  std::array<const KeptText*, 256> single_{};  // those of one byte: half of all tokens
};

}  // namespace flor::probes
