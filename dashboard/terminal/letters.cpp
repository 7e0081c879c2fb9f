#include "dashboard/terminal/letters.h"

#include <algorithm>

namespace flor::dashboard {
namespace {

std::size_t letters_in(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char letter) {
    return (static_cast<unsigned char>(letter) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string cut(const std::string& line, std::size_t width) {
  std::size_t letters = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(line[at]) & 0xC0) != 0x80;
    if (begins && ++letters > width) return line.substr(0, at);
  }
  return line;
}

std::string padded(const std::string& line, std::size_t width) {
  const std::string out = cut(line, width);
  return out + std::string(width - letters_in(out), ' ');
}

}  // namespace flor::dashboard
