#include "probes/program/file_pairs.h"

#include <algorithm>
#include <functional>

namespace flor::probes {
namespace {

std::vector<std::string> components(const std::string& path) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// How many components the two paths share at their ends.
size_t common_suffix(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  size_t length = 0;
  while (length < a.size() && length < b.size() && a[a.size() - 1 - length] == b[b.size() - 1 - length])
    ++length;
  return length;
}

class Pairing {
 public:
  Pairing(const std::vector<SourceFile>& recorded, const std::vector<SourceFile>& present)
      : recorded_(recorded), present_(present), state_a_(recorded.size()), state_b_(present.size()) {
    std::vector<std::vector<std::string>> paths;
    paths.reserve(present.size());
    for (const SourceFile& file : present) paths.push_back(components(file.path));
    for (const SourceFile& file : recorded) {
      const std::vector<std::string> own = components(file.path);
      std::vector<size_t> row;
      row.reserve(paths.size());
      for (const auto& path : paths) row.push_back(common_suffix(own, path));
      if (!row.empty()) longest_ = std::max(longest_, *std::max_element(row.begin(), row.end()));
      common_.push_back(std::move(row));
    }
  }

  FilePairs run() {
    const auto equal = [this](size_t a, size_t b) { return recorded_[a].text == present_[b].text; };
    for (size_t length = longest_; length > 0; --length) {
      const auto named = [&](size_t a, size_t b) { return common_[a][b] == length; };
      pair_unique(named);
      pair_unique([&](size_t a, size_t b) { return named(a, b) && equal(a, b); });
      pair_unique(named);
      give_up(named);
    }
    pair_unique(equal);
    give_up(equal);
    return result();
  }

 private:
  enum class State { kOpen, kPaired, kAmbiguous };
  using Relation = std::function<bool(size_t, size_t)>;

  // Pairs what is each other's only partner, again and again: a pair may make another one unique.
  void pair_unique(const Relation& related) {
    for (bool again = true; again;) {
      again = false;
      for (size_t a = 0; a < recorded_.size(); ++a) {
        if (state_a_[a] != State::kOpen) continue;
        const std::vector<size_t> partners = open_partners(a, related);
        if (partners.size() != 1 || rivals(partners[0], related) != 1) continue;
        state_a_[a] = state_b_[partners[0]] = State::kPaired;
        out_.pairs.emplace_back(a, partners[0]);
        again = true;
      }
    }
  }

  void give_up(const Relation& related) {
    std::vector<size_t> lost_b;
    for (size_t a = 0; a < recorded_.size(); ++a) {
      if (state_a_[a] != State::kOpen) continue;
      const std::vector<size_t> partners = open_partners(a, related);
      if (partners.empty()) continue;
      state_a_[a] = State::kAmbiguous;
      lost_b.insert(lost_b.end(), partners.begin(), partners.end());
    }
    for (const size_t b : lost_b) state_b_[b] = State::kAmbiguous;
  }

  [[nodiscard]] std::vector<size_t> open_partners(size_t a, const Relation& related) const {
    std::vector<size_t> partners;
    for (size_t b = 0; b < present_.size(); ++b) {
      if (state_b_[b] == State::kOpen && related(a, b)) partners.push_back(b);
    }
    return partners;
  }

  [[nodiscard]] size_t rivals(size_t b, const Relation& related) const {
    size_t count = 0;
    for (size_t a = 0; a < recorded_.size(); ++a) {
      if (state_a_[a] == State::kOpen && related(a, b)) ++count;
    }
    return count;
  }

  FilePairs result() {
    std::sort(out_.pairs.begin(), out_.pairs.end());
    for (size_t a = 0; a < recorded_.size(); ++a) {
      if (state_a_[a] == State::kAmbiguous) out_.ambiguous.push_back(a);
      if (state_a_[a] == State::kOpen) out_.missing.push_back(a);
    }
    for (size_t b = 0; b < present_.size(); ++b) {
      if (state_b_[b] == State::kOpen) out_.fresh.push_back(b);
    }
    return std::move(out_);
  }

  const std::vector<SourceFile>& recorded_;
  const std::vector<SourceFile>& present_;
  std::vector<State> state_a_, state_b_;
  std::vector<std::vector<size_t>> common_;
  size_t longest_ = 0;
  FilePairs out_;
};

}  // namespace

FilePairs pair_files(const std::vector<SourceFile>& recorded, const std::vector<SourceFile>& present) {
  return Pairing(recorded, present).run();
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace flor::probes
