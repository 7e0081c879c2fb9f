#include "mutate.h"

#include <algorithm>
#include <cctype>

namespace flor::fuzz {
namespace {

const std::vector<std::string> words = {"-1",
                                        "0",
                                        "1",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "4294967296",
                                        "2147483648",
                                        "1e308",
                                        "1e999",
                                        "-0.0",
                                        "NaN",
                                        "null",
                                        "true",
                                        "[]",
                                        "{}",
                                        "[[[[[[[[",
                                        "{\"\":",
                                        "\"\"",
                                        "\"../../etc\"",
                                        "\"\\u0000\"",
                                        "\"\\ud800\"",
                                        "\xff\xfe",
                                        std::string(1, '\0'),
                                        "\r\n",
                                        "$-1\r\n",
                                        "*-1\r\n",
                                        "*1000000000\r\n",
                                        "$1000000000\r\n",
                                        ":",
                                        "+",
                                        "-ERR\r\n",
                                        "%",
                                        "@",
                                        "=",
                                        "#",
                                        "/",
                                        ",",
                                        "\n\n"};

std::size_t below(std::size_t limit, Random& random) {
  return limit == 0 ? 0 : random() % limit;
}

void replace_a_number(std::string& text, Random& random) {
  const std::size_t from = below(text.size(), random);
  const auto digit = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(),
                                  [](unsigned char c) { return std::isdigit(c) != 0; });
  if (digit == text.end()) return;
  const auto end = std::find_if(digit, text.end(), [](unsigned char c) { return std::isdigit(c) == 0; });
  text.replace(digit, end, words[below(10, random)]);
}

void change(std::string& text, const std::vector<std::string>& seeds, Random& random) {
  const std::size_t at = below(text.size() + 1, random);
  const std::size_t length = below(std::min<std::size_t>(text.size() - at, 64) + 1, random);
  switch (random() % 8) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << (random() % 8)));
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:
      text.insert(at, text.substr(at, length));
      break;
    case 4:
      text.insert(at, words[below(words.size(), random)]);
      break;
    case 5:
      replace_a_number(text, random);
      break;
    case 6: {
      const std::string& other = seeds[below(seeds.size(), random)];
      text.replace(at, length, other.substr(below(other.size() + 1, random), below(128, random)));
      break;
    }
    default:
      if (random() % 8 == 0) text.resize(at);
  }
}

}  // namespace

std::string mutated(const std::vector<std::string>& seeds, Random& random) {
  std::string text = seeds[below(seeds.size(), random)];
  for (std::size_t changes = 1 + below(8, random); changes > 0; --changes) change(text, seeds, random);
  return text;
}

}  // namespace flor::fuzz
