#include "commands/base/token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/files/trusted_file.h"

namespace flor::commands {
namespace {

constexpr std::size_t least_letters = 16;
constexpr std::size_t most_bytes = 4096;

bool is_letter_of_token(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
         (letter >= 'A' && letter <= 'Z') || letter == '-' || letter == '_';
}

}  // namespace

std::string new_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error(errno, std::generic_category(), "getrandom");
  std::string out;
  for (const unsigned char byte : bytes) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

std::string token_in(const std::filesystem::path& file) {
  struct stat info = {};
  if (::lstat(file.c_str(), &info) != 0 && errno == ENOENT) {
    core::DurableFile made(file, 0600);
    const std::string line = new_token() + "\n";
    made.write(line.data(), line.size());
    made.commit_if_absent();  // else another server has just made it
  }
  const core::Descriptor opened = core::open_regular(file);
  if (::fstat(opened.get(), &info) != 0)
    throw std::system_error(errno, std::generic_category(), file.string());
  if (info.st_uid != ::geteuid() || (info.st_mode & 077) != 0)
    throw core::UsageError(file.string() +
                           " holds a secret, and others may read it: it must be yours, with mode 0600");
  std::string token(most_bytes, '\0');
  const ssize_t size = ::read(opened.get(), token.data(), token.size());
  if (size < 0) throw std::system_error(errno, std::generic_category(), file.string());
  token.resize(static_cast<std::size_t>(size));
  token.erase(
      std::find_if_not(token.rbegin(), token.rend(), [](char letter) { return letter == '\n'; }).base(),
      token.end());
  if (token.size() < least_letters || !std::all_of(token.begin(), token.end(), is_letter_of_token))
    throw core::UsageError(file.string() +
                           " holds no token: one line of at least 16 letters, digits, - and _; "
                           "remove it, and flor serve makes a new one");
  return token;
}

}  // namespace flor::commands
