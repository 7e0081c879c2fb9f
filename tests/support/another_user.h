// Code that runs as a user of its own choice, for tests of what users may do to each other. Needs root.
#pragma once

#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace flor::test {

// Two users that need not exist.
inline constexpr uid_t victim = 54321;
inline constexpr uid_t attacker = 54322;

// What `body` returns, run in a child process as the user; "threw: …" where it throws.
inline std::string as_user(uid_t user, const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    std::string text;
    try {
      const bool is_user = ::setgroups(0, nullptr) == 0 && ::setgid(user) == 0 && ::setuid(user) == 0;
      text = is_user ? body() : "cannot become user " + std::to_string(user);
    } catch (const std::exception& problem) {
      text = std::string("threw: ") + problem.what();
    }
    [[maybe_unused]] const ssize_t written = ::write(ends[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

// Makes a directory, or a file that holds `text`, and gives it to the user.
inline void plant_directory(const std::filesystem::path& path, uid_t user, mode_t mode = 0755) {
  std::filesystem::create_directories(path);
  ::chmod(path.c_str(), mode);
  ::chown(path.c_str(), user, user);
}
inline void plant_file(const std::filesystem::path& path, const std::string& text, uid_t user) {
  std::ofstream(path) << text;
  ::chown(path.c_str(), user, user);
}
inline void plant_link(const std::filesystem::path& path, const std::filesystem::path& target, uid_t user) {
  std::filesystem::create_symlink(target, path);
  ::lchown(path.c_str(), user, user);
}

inline std::string text_in(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace flor::test

// For the beginning of a test that uses it.
#define FLOR_NEEDS_ROOT() \
  if (::geteuid() != 0) GTEST_SKIP() << "another user's part is played by root alone"
